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

	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/internal/cli"
	form "kontroloop.ai/vector-sidecar-operator/internal/scenario"
)

var update = flag.Bool("update", false, "rewrite the expectations")

const (
	wantYAML  = form.WantYAML
	extension = ".txtar"
)

// scenario is one file, by its name.
type scenario struct {
	*form.Scenario

	name string
}

func scenarios(t *testing.T) []scenario {
	t.Helper()
	found, err := form.Load(".")
	require.NoError(t, err)
	require.NotEmpty(t, found)
	var all []scenario
	for _, one := range found {
		all = append(all, scenario{one, one.Name})
	}
	return all
}

// file returns what the scenario holds under a name, and whether it does.
func (s *scenario) file(name string) (string, bool) { return s.File(name) }

// Each scenario passes with kubectl vectorsidecar test, the command of platform teams.
func TestScenario_PassesWithPlugin(t *testing.T) {
	if *update {
		run(t, ".", "--update") // All at once, bases first.
	}
	folder := copied(t)
	for _, s := range scenarios(t) {
		t.Run(s.name, func(t *testing.T) {
			run(t, filepath.Join(folder, s.name+extension))
		})
	}
}

func run(t *testing.T, arguments ...string) {
	t.Helper()
	var out bytes.Buffer
	streams := genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &out, ErrOut: &out}
	require.Zero(t, cli.Run(t.Context(), append([]string{"test"}, arguments...), streams, cli.Builtin{Chart: vectorsidecar.FS, Definition: vectorsidecar.Definition}, "test"), "%s", &out)
}

// copied returns a folder with the scenarios that is in no chart, so that the chart within the
// program is tested, and the repository's is not loaded for each of them.
func copied(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	require.NoError(t, os.CopyFS(folder, os.DirFS(".")))
	return folder
}

// The flag --update does not change a scenario that passes, so that the diff shows only changed expectations.
func TestUpdate_KeepsPassingScenarios(t *testing.T) {
	folder := copied(t)
	run(t, folder, "--update")
	for _, s := range scenarios(t) {
		is, err := os.ReadFile(s.name + extension)
		require.NoError(t, err)
		updated, err := os.ReadFile(filepath.Join(folder, s.name+extension))
		require.NoError(t, err)
		require.Equal(t, string(is), string(updated), s.name)
	}
}

// most is the limit of lines of all scenarios, so that they can be read. A new one has a base.
const most = 3712

// All scenarios in test/golden together have a limited number of lines.
func TestScenario_LimitsTotalLength(t *testing.T) {
	entries, err := os.ReadDir(".")
	require.NoError(t, err)
	lines := 0
	for _, entry := range entries {
		if filepath.Ext(entry.Name()) != extension {
			continue
		}
		text, err := os.ReadFile(entry.Name())
		require.NoError(t, err)
		lines += bytes.Count(text, []byte("\n"))
	}
	require.Less(t, lines, most, "give the longest ones a base that is nearer to them")
}

// Each scenario in test/golden has a comment with its story, and an expected outcome.
func TestScenario_HasStoryAndExpectation(t *testing.T) {
	entries, err := os.ReadDir(".")
	require.NoError(t, err)
	for _, entry := range entries {
		name := entry.Name()
		require.True(t, strings.HasSuffix(name, extension) || strings.HasSuffix(name, ".go") || slices.Contains([]string{released, releaseBefore}, name), "%s is no scenario and no test", name)
	}
	for _, s := range scenarios(t) {
		t.Run(s.name, func(t *testing.T) {
			require.NotEmpty(t, s.Story, "the first lines say what the scenario is about")
			_, gives := s.file(form.WantYAML)
			_, fails := s.file(form.WantError)
			require.NotEqual(t, gives, fails, "a scenario here has one whole outcome")
		})
	}
}
