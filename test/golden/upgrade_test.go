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

// rolls is the record of the last release.
const rolls = "released.txt"

// What a release injected for the same input is injected by the next: an upgrade of
// the operator starts no pods. Where that cannot be, the release notes have to say
// that every workload rolls, and the new record says that it was meant.
func TestAnUpgradeOfTheOperatorRollsNothing(t *testing.T) {
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
	for name, digest := range released {
		require.Equal(t, digest, now[name], "%s: on an upgrade this workload would roll; if that is meant, say so in the release notes and run go test ./test/golden -release", name)
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
	text.WriteString("# The pod templates of the last release, by scenario and workload: go test ./test/golden -release\n")
	for _, name := range slices.Sorted(maps.Keys(templates)) {
		fmt.Fprintf(&text, "%s %s\n", name, templates[name])
	}
	return text.String()
}
