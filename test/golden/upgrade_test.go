// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package golden

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
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
	form "kontroloop.ai/vector-sidecar-operator/internal/scenario"
	"kontroloop.ai/vector-sidecar-operator/test/predecessor"
)

var release = flag.Bool("release", false, "record the pod templates as those of the release")

// rolls is the record of the release before: what it rendered.
const rolls = "released.txt"

// differs are the scenarios whose pods the upgrade rolls, by the line of CHANGELOG.md that
// says so. A new record empties it, and makes .Values.predecessor of the templates needless.
var differs = map[string]string{
	"configmap/cart":                        copies,
	"several-sidecars-with-configmaps/cart": copies,
	"more-args/cart":                        unlimited,
}

const (
	copies    = "mount a checked copy instead of the ConfigMap"
	unlimited = "`--no-graceful-shutdown-limit` works"
	// localhost and the others are the lines that say what is rendered differently, and rolls nothing.
	localhost    = "Vector's API listens on localhost"
	acknowledged = "have acknowledgements on"
	drained      = "Vector reads on for 13 s"
	renamed      = "Log files are read on after they are renamed"
	agents       = "pod annotations say to Vector, Fluent Bit and Datadog"
	autoscaled   = "names the sidecar's volumes to the Cluster Autoscaler"
	kubelets     = "Sidecars are native where every kubelet runs them"
)

// What a release rendered for the same input is rendered by the next, but for what the
// release notes tell of: most people upgrade from workloads that were written long ago.
// Of what is rendered differently and rolls nothing, the templates still tell what it was.
func TestAReleaseRendersWhatTheOneBeforeDid(t *testing.T) {
	now, before := templates(t, vectorsidecar.FS), templates(t, predecessor.Chart(t))
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
	for _, line := range []string{localhost, acknowledged, drained, renamed, agents, autoscaled, kubelets} {
		require.Contains(t, unreleased, line)
	}
	for name, digest := range released {
		line, isMeant := differs[name]
		if !isMeant {
			require.Contains(t, []string{now[name], before[name]}, digest, "%s: its pods are rendered differently than by the release before, and would roll; if that is meant, say so in CHANGELOG.md, and name that line here", name)
			continue
		}
		require.NotEqual(t, digest, now[name], "%s: its pods are as the release before made them, and are said to differ", name)
		require.Contains(t, unreleased, line, "%s: CHANGELOG.md does not tell that its pods differ", name)
	}
	for name := range differs {
		require.Contains(t, released, name, "the release before had no such scenario")
	}
}

// templates are digests of the pod templates that a chart gives in all scenarios which
// have one, by scenario and workload.
func templates(t *testing.T, chart fs.FS) map[string]string {
	t.Helper()
	folder, found := t.TempDir(), map[string]string{}
	require.NoError(t, os.CopyFS(folder, os.DirFS(".")))
	var out bytes.Buffer
	streams := genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &out, ErrOut: &out}
	require.Zero(t, cli.Run(t.Context(), []string{"test", folder, "--update"}, streams, cli.Builtin{Chart: chart, Definition: vectorsidecar.Definition}, "test"), "%s", &out)
	rendered, err := form.Load(folder)
	require.NoError(t, err)
	for _, s := range rendered {
		text, _ := s.File(wantYAML)
		for _, deployment := range deployments(t, text) {
			template, err := json.Marshal(deployment.Spec.Template)
			require.NoError(t, err)
			found[path.Base(s.Name)+"/"+deployment.Name] = fmt.Sprintf("%x", sha256.Sum256(template))[:16]
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
