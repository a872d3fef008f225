// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/scenario"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
)

// In each scenario of test/golden, eject removes everything that inject has added to a manifest, although the manifest
// has no managedFields.
func TestEject_RemovesAllThatInjectAdds(t *testing.T) {
	scenarios, err := scenario.Load(filepath.Join(root, "test", "golden"))
	require.NoError(t, err)
	undone := 0
	for _, one := range scenarios {
		given, _ := one.File(scenario.Workload)
		if _, fails := one.File(scenario.WantError); fails || strings.Contains(given, meta.AnnotationInjected) {
			continue
		}
		t.Run(filepath.Base(one.Name), func(t *testing.T) {
			folder := t.TempDir()
			injected := filepath.Join(folder, "injected.yaml")
			var text []byte
			for _, document := range inject(t, one, "v1.36.0") {
				text = append(append(text, "---\n"...), document.Text...)
			}
			require.NoError(t, os.WriteFile(injected, text, 0o600))

			ejected := runs(t, "eject", "-f", injected)

			require.Empty(t, cmp.Diff(deployments(t, []byte(given)), deployments(t, ejected)))
		})
		undone++
	}
	require.Greater(t, undone, 30)
}

// deployments returns the Deployments of a text by name, without fields that exist only in a cluster.
func deployments(t *testing.T, text []byte) map[string]*appsv1.Deployment {
	t.Helper()
	documents, err := source.Parse("a text", text, nil)
	require.NoError(t, err)
	found := map[string]*appsv1.Deployment{}
	for _, document := range documents {
		if deployment, ok := document.Object.(*appsv1.Deployment); ok {
			found[deployment.Name] = bare(deployment)
		}
	}
	return found
}
