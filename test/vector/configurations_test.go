// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	vectorconfig "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/config"
	vectorflags "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/flags"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/presets"
)

// written is a configuration file with its source.
type written struct{ from, name, text string }

// options are settings of the rendered configuration, in addition to the intake and the sink.
var options = map[string]map[string]any{
	"as it is":       {},
	"live":           {"reload": "Live"},
	"metrics off":    {"metrics": map[string]any{"enabled": false}},
	"metrics port":   {"metrics": map[string]any{"port": 9599}},
	"never probed":   {"health": map[string]any{"probe": "Never"}},
	"probed always":  {"health": map[string]any{"probe": "Always", "port": 8687}},
	"metrics probed": {"health": map[string]any{"probe": "Metrics"}},
	"log level":      {"logLevel": "debug"},
	"threads":        {"threads": 2},
	"shutdown":       {"shutdown": map[string]any{"drainSeconds": 1, "limitSeconds": 9}},
	"volume":         {"data": map[string]any{"sizeLimit": "1Gi"}},
	"udp":            {"socket": map[string]any{"mode": "udp"}},
	"json":           {"socket": map[string]any{"codec": "json"}},
	"syslog":         {"socket": map[string]any{"codec": "syslog"}},
	"gelf":           {"socket": map[string]any{"codec": "gelf", "port": 5171}},
	"unix":           {"socket": map[string]any{"mode": "unix"}},
	"otlp ports":     {"otlp": map[string]any{"grpcPort": 4327, "httpPort": 4328}},
	"files":          {"logs": map[string]any{"include": []any{"*.log", "*.log.1"}}},
}

// Vector accepts the rendered configuration of each sample VectorSidecar (preset), with each option, in each
// environment.
func TestVector_AcceptsEveryPreset(t *testing.T) {
	vector := program(t)
	var all []written
	known := map[string]bool{}
	for _, combination := range presets.All(t) {
		for name, more := range options {
			result := combination.With(more).Render(t)
			for file, text := range result.ConfigMap.Data {
				if !known[text] {
					known[text] = true
					all = append(all, written{combination.Name() + " " + name, file, text})
				}
			}
		}
	}
	require.Greater(t, len(all), 200)
	for i, taken := range listAccepted(t, vector, all, "--no-environment") {
		require.True(t, taken, "%s: Vector refuses\n%s", all[i].from, all[i].text)
	}
	t.Logf("%d configurations", len(all))
}

// The check and the newest Vector accept and reject the same configurations of this repository.
func TestCheck_AgreesWithVectorOnRepositoryConfigs(t *testing.T) {
	vector, all := program(t), configurations(t)
	require.Greater(t, len(all), 100)
	allowed := allowances(t)
	counts, differ := map[bool]int{}, []string{}
	for i, taken := range listAccepted(t, vector, all, "--no-environment") {
		one := all[i]
		report, err := desired.VectorReader.Check(t.Context(), []vectorconfig.File{{Name: one.name, Text: one.text}}, vectorconfig.Options{Image: imageOf, Container: containerOf(one)})
		require.NoError(t, err)
		found := slices.DeleteFunc(vectorconfig.Errors(report.Findings), func(f vectorconfig.Finding) bool {
			return f.Code == "VSC306" || f.Code == "VSC405" || f.Code >= "VSC5" // Vector tells the first two at its start, and of pods it knows nothing.
		})
		if slices.ContainsFunc(allowed, func(a allowance) bool { return a.group == "file" && a.path == one.from }) {
			continue
		}
		counts[taken]++
		if taken != (len(found) == 0) {
			differ = append(differ, fmt.Sprintf("%s: Vector takes it: %t; the check found %v", one.from, taken, found))
		}
	}
	require.Empty(t, differ)
	t.Logf("%d that both take, %d that both refuse", counts[true], counts[false])
}

// otherImage matches the header of a configuration for another version of Vector.
var otherImage = regexp.MustCompile(`(?m)^# image: \S*:(?:v?0\.(?:[0-4]?[0-9]|5[0-689])|latest)`)

// configurations returns the configurations in the test data of the check and in every ConfigMap of the repository.
func configurations(t *testing.T) []written {
	t.Helper()
	root, err := harness.Root()
	require.NoError(t, err)
	var all []written
	known := map[string]bool{}
	add := func(path, name, text string) {
		if !known[text] && !otherImage.MatchString(text) && slices.Contains([]string{".yaml", ".yml", ".json", ".toml"}, filepath.Ext(name)) {
			known[text] = true
			all = append(all, written{path, name, text})
		}
	}
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		short, _ := filepath.Rel(root, path)
		if entry.IsDir() && (short == "bin" || short == ".git" || short == "node_modules") {
			return fs.SkipDir
		}
		if entry.IsDir() || !slices.Contains([]string{".yaml", ".yml", ".json", ".toml", ".txtar"}, filepath.Ext(path)) {
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if strings.HasPrefix(short, "internal/vectorlint/config/testdata/") {
			add(short, filepath.Base(path), string(content))
			return nil
		}
		archive := txtar.Parse(content)
		archive.Files = append(archive.Files, txtar.File{Data: content})
		for _, file := range archive.Files {
			for _, document := range strings.Split(string(file.Data), "\n---\n") {
				var object corev1.ConfigMap
				if yaml.Unmarshal([]byte(document), &object) != nil || object.Kind != "ConfigMap" {
					continue
				}
				for name, text := range object.Data {
					if strings.Contains(text, "sources") && strings.Contains(text, "sinks") {
						add(short, name, text)
					}
				}
			}
		}
		return nil
	}))
	return all
}

// switchedOn marks a configuration whose variables are replaced.
const switchedOn = "Interpolation is switched on"

func containerOf(one written) *vectorconfig.Container {
	if !strings.Contains(one.text, switchedOn) {
		return nil
	}
	return &vectorconfig.Container{Env: map[string]vectorflags.Text{"VECTOR_DANGEROUSLY_ALLOW_ENV_VAR_INTERPOLATION": {Value: "true"}, "INGEST_TOKEN": {IsOpen: true}}, OpenEnv: true}
}

// listAccepted returns whether Vector accepts each configuration: with --no-environment when it reads it, and with
// --skip-healthchecks when it starts with it. The calls are parallel.
func listAccepted(t *testing.T, vector string, all []written, how string) []bool {
	t.Helper()
	answers, next := make([]bool, len(all)), make(chan int)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		folder := t.TempDir()
		workers.Go(func() {
			for i := range next {
				answers[i] = isAccepted(t, vector, folder, how, all[i])
			}
		})
	}
	for i := range all {
		next <- i
	}
	close(next)
	workers.Wait()
	return answers
}

// secretOf matches a secret that a configuration reads from a directory.
var secretOf = regexp.MustCompile(`SECRET\[(\w+)\.([\w.\-/]+)\]`)

// isAccepted returns whether Vector accepts one configuration. The directory has its secrets and Vector's data.
func isAccepted(t *testing.T, vector, folder, how string, one written) bool {
	t.Helper()
	text := strings.NewReplacer("/run/secrets/vector", folder, "/var/lib/vector", folder).Replace(one.text)
	for _, match := range secretOf.FindAllStringSubmatch(text, -1) {
		file := filepath.Join(folder, match[1], match[2])
		if os.MkdirAll(filepath.Dir(file), 0o700) != nil || os.WriteFile(file, []byte("s"), 0o600) != nil {
			return false
		}
	}
	file := filepath.Join(folder, one.name)
	defer func() { _ = os.Remove(file) }()
	if os.WriteFile(file, []byte(text), 0o600) != nil {
		return false
	}
	command := exec.CommandContext(t.Context(), vector, "--quiet", "validate", how, file)
	command.Env = append(os.Environ(), "VECTOR_SELF_POD_NAME=p", "VECTOR_SELF_POD_NAMESPACE=n", "VECTOR_SELF_NODE_NAME=n",
		"VECTOR_DISK_V2_MAX_DATA_FILE_SIZE=65536") // Only what Vector is tested with reads it: the smallest disk buffer stays as it is.
	if containerOf(one) != nil {
		command.Env = append(command.Env, "VECTOR_DANGEROUSLY_ALLOW_ENV_VAR_INTERPOLATION=true", "INGEST_TOKEN=t")
	}
	return command.Run() == nil
}
