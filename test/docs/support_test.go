// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	vectoroptions "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/options"
)

// pinnedIn returns the first group of a pattern in a file of the repository.
func pinnedIn(t *testing.T, file, pattern string) string {
	t.Helper()
	text, err := os.ReadFile(root + "/" + file)
	require.NoError(t, err)
	match := regexp.MustCompile(pattern).FindSubmatch(text)
	require.NotNil(t, match, "%s does not match %s", file, pattern)
	return string(match[1])
}

// minorOf returns the minor version without the patch, as the tables name it.
func minorOf(version string) string { return regexp.MustCompile(`^\d+\.\d+`).FindString(version) }

// The page lists the versions with which the tests run, and states which supported versions are not tested.
func TestDocs_NameTestedVersions(t *testing.T) {
	page := read(t, "docs/reference/support.md").prose
	kind := pinnedIn(t, "test/imagearchive/image.mk", `kindest/node:v(\d+\.\d+\.\d+)@`)
	built := pinnedIn(t, "test/tools/kubernetes/go.mod", `\sk8s\.io/kubernetes v(\S+)`)
	require.Contains(t, page, fmt.Sprintf("| %s | workflow `kind`: each night, `make test-node` runs operator, application and Vector in a cluster of `kindest/node:v%s` |", minorOf(kind), kind))
	require.Contains(t, page, fmt.Sprintf("| %s | API server built here: `make test` and `make test-integration` use v%s,", minorOf(built), built))
	oldest := pinnedIn(t, "chart/Chart.yaml", `kubeVersion: ">=(\d+\.\d+)\.`)
	require.Contains(t, page, fmt.Sprintf("| 1.%d to 1.%d | rendering only:", minorNumber(t, oldest)+1, minorNumber(t, built)-1))
	oldestNode := pinnedIn(t, ".github/workflows/kind.yaml", `KIND_NODE_IMAGE=kindest/node:v(\d+\.\d+\.\d+)@sha256:[0-9a-f]{64}"`)
	require.Equal(t, oldest, minorOf(oldestNode))
	require.Contains(t, page, fmt.Sprintf("| %s | workflow `kind`: each night, the [tutorial](../tutorials/kind.md) installs the operator and runs a sidecar in a cluster of `kindest/node:v%s` |", oldest, oldestNode))

	for module, file := range map[string]string{"v3": "helm", "v4": "helm4"} {
		version := pinnedIn(t, "test/tools/"+file+"/go.mod", `helm\.sh/helm/`+module+` v(\S+)`)
		require.Contains(t, page, fmt.Sprintf("\n| %s | built here: `test/chart`", minorOf(version)))
		require.Contains(t, page, " uninstalls with v"+version+" |")
	}

	vector := pinnedIn(t, "values.yaml", `image: docker\.io/timberio/vector:(\d+\.\d+\.\d+)-`)
	require.Contains(t, page, fmt.Sprintf("| %s | workflow `kind`: the image of `values.yaml`, %s, runs in pods.", minorOf(vector), vector))
	require.Contains(t, page, fmt.Sprintf("| 0.%d to 0.%d | [check]", vectoroptions.Oldest, minorNumber(t, vector)-1))
}

func minorNumber(t *testing.T, version string) int {
	t.Helper()
	minor, err := strconv.Atoi(regexp.MustCompile(`^\d+\.(\d+)`).FindStringSubmatch(version)[1])
	require.NoError(t, err)
	return minor
}

// The chart and the sidecar are rendered for each supported version with which no test runs.
func TestDocs_RenderForUntestedVersions(t *testing.T) {
	oldest := minorNumber(t, pinnedIn(t, "chart/Chart.yaml", `kubeVersion: ">=(\d+\.\d+)\.`))
	built := minorNumber(t, pinnedIn(t, "test/tools/kubernetes/go.mod", `\sk8s\.io/kubernetes v(\S+)`))
	for minor := oldest; minor < built; minor++ {
		for _, environment := range []string{"development", "staging", "production"} {
			require.Contains(t, shell(t, fmt.Sprintf("helm template vso ./chart --kube-version 1.%d.0 -f values/%s.yaml", minor, environment)), "kind: Deployment")
		}
		rendered := shell(t, fmt.Sprintf("bin/kubectl-vectorsidecar render -f docs/samples/app/deployment.yaml --sidecar docs/samples/02-logs.yaml --label logs=vector --kube-version 1.%d.0", minor))
		require.Contains(t, rendered, "image: docker.io/timberio/vector:")
	}
}
