// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package golden

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/internal/cli"
)

var update = flag.Bool("update", false, "rewrite the expectations")

const (
	wantYAML  = "want.yaml"
	wantError = "want-error"
	extension = ".txtar"
)

var mayHold = []string{"workload.yaml", "vectorsidecar.yaml", "configmaps.yaml", "values.yaml", "environment", "kube-version", wantYAML, wantError}

// scenario is one file.
type scenario struct {
	name    string
	archive *txtar.Archive
}

func scenarios(t *testing.T) []scenario {
	t.Helper()
	files, err := filepath.Glob("*" + extension)
	require.NoError(t, err)
	require.NotEmpty(t, files)
	var all []scenario
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		require.NoError(t, err)
		all = append(all, scenario{strings.TrimSuffix(file, extension), archive})
	}
	return all
}

// file returns what the scenario holds under a name, and whether it does.
func (s *scenario) file(name string) (string, bool) {
	i := slices.IndexFunc(s.archive.Files, func(f txtar.File) bool { return f.Name == name })
	if i < 0 {
		return "", false
	}
	return string(s.archive.Files[i].Data), true
}

// arguments are those of the plugin, for files that lie in the current folder.
func (s *scenario) arguments() []string {
	arguments := []string{"render", "-f", "workload.yaml", "--sidecar", "vectorsidecar.yaml"}
	if _, ok := s.file("configmaps.yaml"); ok {
		arguments = append(arguments, "-f", "configmaps.yaml")
	}
	if _, ok := s.file("values.yaml"); ok {
		arguments = append(arguments, "--values", "values.yaml")
	}
	for _, option := range []string{"environment", "kube-version"} {
		if text, ok := s.file(option); ok {
			arguments = append(arguments, "--"+option, strings.TrimSpace(text))
		}
	}
	return arguments
}

// run returns the name and the text of the outcome.
func (s *scenario) run(t *testing.T) (name, text string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for _, file := range s.archive.Files {
		require.NoError(t, os.WriteFile(file.Name, file.Data, 0o600))
	}
	var out bytes.Buffer
	command := cli.New(vectorsidecar.FS, "test")
	command.SetArgs(s.arguments())
	command.SetOut(&out)
	if err := command.ExecuteContext(t.Context()); err != nil {
		return wantError, err.Error() + "\n"
	}
	return wantYAML, out.String()
}

func TestScenarios(t *testing.T) {
	for _, s := range scenarios(t) {
		t.Run(s.name, func(t *testing.T) {
			folder, err := os.Getwd()
			require.NoError(t, err)
			name, text := s.run(t)
			if *update {
				s.expect(name, text)
				file := filepath.Join(folder, s.name+extension)
				require.NoError(t, os.WriteFile(file, txtar.Format(s.archive), 0o644))
				return
			}
			want, ok := s.file(name)
			require.True(t, ok, "the outcome is %s, which is not expected:\n%s", name, text)
			require.Equal(t, want, text, s.story())
		})
	}
}

// expect puts the outcome in the place of every expectation there was.
func (s *scenario) expect(name, text string) {
	s.archive.Files = slices.DeleteFunc(s.archive.Files, func(f txtar.File) bool { return f.Name == wantYAML || f.Name == wantError })
	s.archive.Files = append(s.archive.Files, txtar.File{Name: name, Data: []byte(text)})
}

// story is the comment that begins the file, less the licence.
func (s *scenario) story() string {
	var lines []string
	for line := range strings.Lines(string(s.archive.Comment)) {
		if !strings.HasPrefix(line, "# SPDX-") {
			lines = append(lines, strings.TrimSpace(strings.TrimPrefix(line, "#")))
		}
	}
	return strings.TrimSpace(strings.Join(lines, " "))
}

func TestEveryFileIsAScenarioAndComplete(t *testing.T) {
	entries, err := os.ReadDir(".")
	require.NoError(t, err)
	for _, entry := range entries {
		name := entry.Name()
		require.True(t, name == rolls || strings.HasSuffix(name, extension) || strings.HasSuffix(name, ".go"), "%s is no scenario and no test", name)
	}
	for _, s := range scenarios(t) {
		t.Run(s.name, func(t *testing.T) {
			require.NotEmpty(t, s.story(), "the first lines say what the scenario is about")
			var names []string
			for _, file := range s.archive.Files {
				require.Contains(t, mayHold, file.Name)
				require.NotContains(t, names, file.Name, "given twice")
				names = append(names, file.Name)
			}
			require.Subset(t, names, []string{"workload.yaml", "vectorsidecar.yaml"})
			require.NotEqual(t, slices.Contains(names, wantYAML), slices.Contains(names, wantError), "a scenario has one expectation")
		})
	}
}
