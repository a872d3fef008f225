// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package golden

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/internal/cli"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	form "kontroloop.ai/vector-sidecar-operator/internal/scenario"
)

var release = flag.Bool("release", false, "record the pod templates as those of the release before")

const (
	// releaseBefore names the commit that upgrades start from.
	releaseBefore = "RELEASE_BEFORE"
	// released has the commit, and the pod templates that it renders, by scenario and workload.
	released = "released.txt"
)

// differs are the scenarios whose pods the upgrade rolls, by the line of CHANGELOG.md that says so. A new record empties
// it.
var differs = map[string]string{}

// The same input gives the same pod template as in the previous release, except for changes that the changelog names.
// An upgrade must not roll workloads.
func TestTemplates_EqualThoseOfPreviousRelease(t *testing.T) {
	commit := lines(t, releaseBefore)
	require.Len(t, commit, 1)
	now := templates(t)
	if *release {
		require.NoError(t, os.WriteFile(released, []byte(record(commit[0], now)), 0o600))
	}
	recorded := lines(t, released)
	require.Equal(t, "commit "+commit[0], recorded[0], "%s is the record of another commit than %s names", released, releaseBefore)
	require.NotEmpty(t, recorded[1:])
	notes, err := os.ReadFile("../../CHANGELOG.md")
	require.NoError(t, err)
	_, unreleased, _ := strings.Cut(string(notes), "## [Unreleased]")
	unreleased, _, _ = strings.Cut(unreleased, "\n## ")
	before := map[string]string{}
	for _, line := range recorded[1:] {
		name, digest, _ := strings.Cut(line, " ")
		before[name] = digest
		note, isMeant := differs[name]
		if !isMeant {
			require.Equal(t, digest, now[name], "%s: the release before rendered other pods, which would roll; if that is meant, add a line to CHANGELOG.md, and name that line in differs", name)
			continue
		}
		require.NotEqual(t, digest, now[name], "%s: its pods are as the release before rendered them", name)
		require.Contains(t, unreleased, note, "%s: CHANGELOG.md does not say that its pods differ", name)
	}
	for name := range differs {
		require.Contains(t, before, name, "the release before had no such scenario")
	}
}

// lines returns the lines of a file without comments and empty lines.
func lines(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	return slices.DeleteFunc(strings.Split(string(text), "\n"), func(line string) bool { return line == "" || strings.HasPrefix(line, "#") })
}

// templates are digests of the pod templates that the chart gives in all scenarios which
// have one, by scenario and workload.
func templates(t *testing.T) map[string]string {
	t.Helper()
	folder, found := t.TempDir(), map[string]string{}
	require.NoError(t, os.CopyFS(folder, os.DirFS(".")))
	var out bytes.Buffer
	streams := genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &out, ErrOut: &out}
	require.Zero(t, cli.Run(t.Context(), []string{"test", folder, "--update"}, streams, cli.Builtin{Chart: vectorsidecar.FS, Definition: vectorsidecar.Definition}, "test"), "%s", &out)
	rendered, err := form.Load(folder)
	require.NoError(t, err)
	for _, s := range rendered {
		text, _ := s.File(wantYAML)
		for _, deployment := range deployments(t, text) {
			// A workload gets this text only with another change (plan.TestForInjection_WritesAboutTextOnlyWithChange).
			maps.DeleteFunc(deployment.Spec.Template.Annotations, func(key, _ string) bool { return meta.IsAbout(key) })
			template, err := json.Marshal(deployment.Spec.Template)
			require.NoError(t, err)
			found[path.Base(s.Name)+"/"+deployment.Name] = fmt.Sprintf("%x", sha256.Sum256(template))[:16]
		}
	}
	return found
}

func record(commit string, templates map[string]string) string {
	var text strings.Builder
	text.WriteString("# The pod templates of the release before, by scenario and workload: go test ./test/golden -release\n")
	text.WriteString("commit " + commit + "\n")
	for _, name := range slices.Sorted(maps.Keys(templates)) {
		fmt.Fprintf(&text, "%s %s\n", name, templates[name])
	}
	return text.String()
}
