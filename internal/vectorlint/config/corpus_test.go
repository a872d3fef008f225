// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	vectorflags "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/flags"
)

// image is that of the tests, unless they say otherwise.
const image = "docker.io/timberio/vector:0.57.0-distroless-static"

// sidecar is a container as the chart makes it.
func sidecar() *Container {
	return &Container{
		Args:         texts("--config", "/etc/vector/vector.yaml"),
		Env:          map[string]vectorflags.Text{"VECTOR_SELF_POD_NAME": openText, "VECTOR_GRACEFUL_SHUTDOWN_LIMIT_SECS": {Value: "20"}},
		ReadOnlyRoot: true,
		Mounts: []Mount{
			{Path: "/etc/vector", ReadOnly: true}, {Path: "/var/log/app", ReadOnly: true},
			{Path: "/var/lib/vector", SizeLimit: 300 << 20},
		},
		MemoryLimit:  128 << 20,
		DrainSeconds: 5,
	}
}

// corpus visits the files of a folder of testdata. Those in a folder "sidecar" are
// for a container, whose probe asks the port that they say; head is their leading comment.
func corpus(t *testing.T, folder string, visit func(t *testing.T, file File, options Options, head map[string]string)) int {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", folder, "*", "*"))
	require.NoError(t, err)
	for _, path := range paths {
		t.Run(strings.TrimPrefix(path, "testdata/"), func(t *testing.T) {
			content, err := os.ReadFile(path)
			require.NoError(t, err)
			head := map[string]string{}
			for _, match := range headLine.FindAllStringSubmatch(string(content), -1) {
				head[match[1]] = match[2]
			}
			options := Options{Image: image}
			if head["image"] != "" {
				options.Image = head["image"]
			}
			if filepath.Base(filepath.Dir(path)) == "sidecar" {
				options.Container = sidecar()
			}
			if port, err := strconv.Atoi(head["probe"]); err == nil {
				options.Container.ProbePorts = []int{port}
			}
			if strings.Contains(string(content), "Interpolation is switched on") {
				options.Container.set("VECTOR_DANGEROUSLY_ALLOW_ENV_VAR_INTERPOLATION", "true")
				options.Container.Env["INGEST_TOKEN"] = openText
			}
			visit(t, File{Name: filepath.Base(path), Text: string(content)}, options, head)
		})
	}
	return len(paths)
}

var headLine = regexp.MustCompile(`(?m)^# (image|expect|probe): (.+)$`)

func TestCheck_AcceptsRealConfigurations(t *testing.T) {
	count := corpus(t, "clean", func(t *testing.T, file File, options Options, _ map[string]string) {
		require.Empty(t, checked([]File{file}, options).Findings)
	})
	require.GreaterOrEqual(t, count, 30)
}

// The first line of each invalid configuration has the expected code, line and part of the message.
func TestCheck_FindsMarkedFaultOfInvalidConfigurations(t *testing.T) {
	count := corpus(t, "broken", func(t *testing.T, file File, options Options, head map[string]string) {
		var code, line, culprit string
		_, err := fmt.Sscan(head["expect"], &code, &line, &culprit)
		require.NoError(t, err, "the first line is not # expect: CODE LINE CULPRIT")
		findings := checked([]File{file}, options).Findings
		require.Len(t, findings, 1, "one fault, one finding")
		f := findings[0]
		require.Equal(t, Code(code), f.Code, f.String())
		require.Equal(t, line, strconv.Itoa(f.Line), f.String())
		require.Equal(t, f.Line > 0, f.Column > 0, "a line without a column")
		require.Contains(t, f.Message+" "+f.Path, culprit)
		require.NotEmpty(t, f.Help)
	})
	require.GreaterOrEqual(t, count, 40)
}

// openText is a text that only the pod knows.
var openText = vectorflags.Text{IsOpen: true}

// texts are known arguments.
func texts(words ...string) []vectorflags.Text {
	var all []vectorflags.Text
	for _, word := range words {
		all = append(all, vectorflags.Text{Value: word})
	}
	return all
}

// set gives the container a variable with a known value.
func (c *Container) set(name, value string) { c.Env[name] = vectorflags.Text{Value: value} }
