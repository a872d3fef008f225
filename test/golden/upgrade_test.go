// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package golden

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var release = flag.Bool("release", false, "record the pod templates as those of the release")

// rolls is the record of the release before: what it rendered.
const rolls = "released.txt"

// differs are the scenarios whose pods are not as the release before made them, by the
// line of CHANGELOG.md that says so. A new record empties it.
var differs = map[string]string{
	"configmap/cart":                        copies,
	"several-sidecars-with-configmaps/cart": copies,
}

const copies = "mount a checked copy in place of the ConfigMap"

// What a release rendered for the same input is rendered by the next, but for what the
// release notes tell of: most people upgrade from workloads that were written long ago,
// and everything that is asked for anew is rendered anew.
func TestAReleaseRendersWhatTheOneBeforeDid(t *testing.T) {
	now := templates(t)
	if *release {
		require.NoError(t, os.WriteFile(rolls, []byte(record(now)), 0o644))
	}
	text, err := os.ReadFile(rolls)
	require.NoError(t, err)
	released := map[string]string{}
	for scanner := bufio.NewScanner(strings.NewReader(string(text))); scanner.Scan(); {
		if name, digest, ok := strings.Cut(scanner.Text(), " "); ok && name != "#" {
			released[name] = digest
		}
	}
	require.NotEmpty(t, released)
	notes, err := os.ReadFile("../../CHANGELOG.md")
	require.NoError(t, err)
	_, unreleased, _ := strings.Cut(string(notes), "## [Unreleased]")
	unreleased, _, _ = strings.Cut(unreleased, "\n## ")
	for name, digest := range released {
		line, isMeant := differs[name]
		if !isMeant {
			require.Equal(t, digest, now[name], "%s: its pods are rendered differently than by the release before; if that is meant, say so in CHANGELOG.md, and name that line here", name)
			continue
		}
		require.NotEqual(t, digest, now[name], "%s: its pods are as the release before made them, and are said to differ", name)
		require.Contains(t, unreleased, line, "%s: CHANGELOG.md does not tell that its pods differ", name)
	}
	for name := range differs {
		require.Contains(t, released, name, "the release before had no such scenario")
	}
}

// templates are digests of the pod templates of all scenarios that have one, by
// scenario and workload.
func templates(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, s := range scenarios(t) {
		text, _ := s.file(wantYAML)
		for _, deployment := range deployments(t, text) {
			template, err := json.Marshal(deployment.Spec.Template)
			require.NoError(t, err)
			found[s.name+"/"+deployment.Name] = fmt.Sprintf("%x", sha256.Sum256(template))[:16]
		}
	}
	return found
}

func record(templates map[string]string) string {
	var text strings.Builder
	text.WriteString("# The pod templates of the release before, by scenario and workload: go test ./test/golden -release\n")
	for _, name := range slices.Sorted(maps.Keys(templates)) {
		fmt.Fprintf(&text, "%s %s\n", name, templates[name])
	}
	return text.String()
}
