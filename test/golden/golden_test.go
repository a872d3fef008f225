// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package golden

import (
	"bytes"
	"flag"
	"os"
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

// The scenarios are run as a platform team runs its own: by kubectl vectorsidecar
// test.
func TestScenarios(t *testing.T) {
	for _, s := range scenarios(t) {
		t.Run(s.name, func(t *testing.T) {
			arguments := []string{"test", s.name + extension}
			if *update {
				arguments = append(arguments, "--update")
			}
			var out bytes.Buffer
			streams := genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &out, ErrOut: &out}
			require.Zero(t, cli.Run(t.Context(), arguments, streams, vectorsidecar.FS, "test"), "%s", &out)
		})
	}
}

func TestEveryFileIsAScenarioAndComplete(t *testing.T) {
	entries, err := os.ReadDir(".")
	require.NoError(t, err)
	for _, entry := range entries {
		name := entry.Name()
		require.True(t, strings.HasSuffix(name, extension) || strings.HasSuffix(name, ".go") || name == rolls, "%s is no scenario and no test", name)
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
