// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package presets holds every environment, way in and sink that the sidecar chart has a
// preset for, in every combination: intakes/ and sinks/ have what a person writes, and
// sinks/ the Vector configuration that comes of it, the first as a whole and the others as
// differences (package scenario), which -update writes. The tests here need no cluster;
// what an API server says of the combinations is asked in test/envtest.
package presets

import (
	"bytes"
	"embed"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/yaml"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/internal/cli"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

//go:embed intakes sinks
var given embed.FS

// sidecarFile is the part of a sink's archive that a person writes. Where a sink does not
// take all that a way in brings, INTAKE.yaml behind it says what a person writes there.
const sidecarFile = "sidecar.yaml"

// Combination is one environment, one way in and one sink.
type Combination struct {
	Environment, Intake, Sink string

	// sidecar is what a person writes below spec.sidecar.
	sidecar map[string]any
}

// Name is the path of the combination.
func (c *Combination) Name() string { return path.Join(c.Sink, c.Environment, c.Intake) }

// Result is what becomes of the sample application, and the configuration that is
// made for it.
type Result struct {
	Deployment appsv1.Deployment
	ConfigMap  corev1.ConfigMap
}

// All returns every combination there is.
func All(t testing.TB) []Combination {
	t.Helper()
	chart, err := render.LoadChart(vectorsidecar.FS)
	require.NoError(t, err)
	intakes, sinks := stems(t, "intakes"), stems(t, "sinks")
	var all []Combination
	for _, sink := range sinks {
		archive := archiveOf(t, sink)
		require.Equal(t, sidecarFile, archive.Files[0].Name, sink)
		for _, env := range chart.Environments.Names() {
			for _, intake := range intakes {
				text, err := given.ReadFile("intakes/" + intake + ".yaml")
				require.NoError(t, err)
				one := Combination{Environment: env, Intake: intake, Sink: sink}
				require.NoError(t, yaml.Unmarshal(archive.Files[0].Data, &one.sidecar), sink)
				require.NoError(t, yaml.Unmarshal(text, &one.sidecar), intake)
				for _, own := range written(archive)[1:] {
					if own.Name == intake+".yaml" {
						require.NoError(t, yaml.Unmarshal(own.Data, &one.sidecar), sink)
					}
				}
				all = append(all, one)
			}
		}
	}
	return all
}

// stems are the names of the files in a folder, without their extensions.
func stems(t testing.TB, folder string) []string {
	t.Helper()
	entries, err := given.ReadDir(folder)
	require.NoError(t, err)
	var names []string
	for _, entry := range entries {
		names = append(names, strings.TrimSuffix(entry.Name(), path.Ext(entry.Name())))
	}
	return names
}

func archiveOf(t testing.TB, sink string) *txtar.Archive {
	t.Helper()
	text, err := given.ReadFile("sinks/" + sink + ".txtar")
	require.NoError(t, err)
	archive := txtar.Parse(text)
	require.NotEmpty(t, archive.Files, sink)
	return archive
}

// written are the files of a sink's archive that a person writes.
func written(archive *txtar.Archive) []txtar.File {
	isRendered := func(file txtar.File) bool { return strings.Contains(file.Name, "/") }
	if i := slices.IndexFunc(archive.Files, isRendered); i >= 0 {
		return archive.Files[:i]
	}
	return archive.Files
}

// With returns the combination with more of what a person writes below spec.sidecar.
func (c *Combination) With(more map[string]any) *Combination {
	fresh := *c
	fresh.sidecar = merged(c.sidecar, more)
	return &fresh
}

// merged returns a map with the values of another map merged into it, recursively.
func merged(into, more map[string]any) map[string]any {
	all := maps.Clone(into)
	for key, value := range more {
		before, isMap := all[key].(map[string]any)
		if fresh, ok := value.(map[string]any); ok && isMap {
			value = merged(before, fresh)
		}
		all[key] = value
	}
	return all
}

// Render previews the combination as a person would, with the sample application.
// Like the operator, it fails where Vector would not start, or where the output is
// not what an API server reads.
func (c *Combination) Render(t testing.TB) Result {
	t.Helper()
	return Render(t, vectorsidecar.FS, c.Environment, c.sidecar)
}

// Render is that of a Combination for a chart, an environment, and what a person writes
// below spec.sidecar.
func Render(t testing.TB, chart fs.FS, environment string, sidecar map[string]any) Result {
	t.Helper()
	root, err := harness.Root()
	require.NoError(t, err)
	text, err := yaml.Marshal(map[string]any{
		"apiVersion": "observability.kontroloop.ai/v1alpha1", "kind": "VectorSidecar",
		"metadata": map[string]any{"name": "logs", "namespace": "shop"},
		"spec":     map[string]any{"matchAll": true, "selector": map[string]any{}, "sidecar": sidecar},
	})
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "vectorsidecar.yaml")
	require.NoError(t, os.WriteFile(file, text, 0o600))
	var out bytes.Buffer
	streams := genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &out, ErrOut: io.Discard}
	command := cli.New(streams, cli.Builtin{Chart: chart, Definition: vectorsidecar.Definition}, "test")
	command.SetArgs([]string{
		"render", "--environment", environment, "--sidecar", file,
		"-f", filepath.Join(root, "docs", "samples", "app", "deployment.yaml"),
	})
	require.NoError(t, command.ExecuteContext(t.Context()), "%s", text)
	return read(t, out.String())
}

func read(t testing.TB, printed string) Result {
	t.Helper()
	documents := strings.Split(strings.TrimPrefix(printed, "---\n"), "\n---\n")
	require.Len(t, documents, 2, "a ConfigMap and a Deployment")
	var result Result
	require.NoError(t, yaml.UnmarshalStrict([]byte(documents[0]), &result.ConfigMap))
	require.NoError(t, yaml.UnmarshalStrict([]byte(documents[1]), &result.Deployment))
	require.Equal(t, "ConfigMap Deployment", fmt.Sprint(result.ConfigMap.Kind, " ", result.Deployment.Kind))
	return result
}
