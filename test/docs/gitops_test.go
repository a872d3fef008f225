// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/itchyny/gojq"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// With the ignore rules of the page, Argo CD sees no difference between a manifest and the Rollout with the sidecar. So
// a sync does not remove the sidecar.
func TestDocs_IgnoreSidecarInArgoCDDiff(t *testing.T) {
	var application struct {
		Spec struct {
			IgnoreDifferences []struct {
				Group, Kind       string
				JQPathExpressions []string `json:"jqPathExpressions"`
			} `json:"ignoreDifferences"`
		} `json:"spec"`
	}
	for _, f := range fences(t, "yaml") {
		if f.page == "docs/how-to/platform/gitops.md" && strings.Contains(f.text, "\nkind: Application\n") {
			require.NoError(t, yaml.Unmarshal([]byte(f.text), &application))
		}
	}
	require.Len(t, application.Spec.IgnoreDifferences, 1)
	rule := application.Spec.IgnoreDifferences[0]
	require.Equal(t, "argoproj.io Rollout", rule.Group+" "+rule.Kind)

	_, manifest, found := strings.Cut(readSample(t, "app/deployment.yaml"), "\n---\n")
	require.True(t, found)
	manifest = strings.NewReplacer("apiVersion: apps/v1\nkind: Deployment", "apiVersion: argoproj.io/v1alpha1\nkind: Rollout",
		"metadata:\n  name: cart\n  namespace: shop\n  labels:\n", "metadata:\n  name: cart\n  namespace: shop\n  labels:\n    logs: vector\n").Replace(manifest)
	sidecar := strings.Replace(readSample(t, "02-logs.yaml"), "\nspec:\n", "\nspec:\n  workloads: [Rollout]\n", 1)
	folder := t.TempDir()
	for name, text := range map[string]string{"rollout.yaml": manifest, "sidecar.yaml": sidecar} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	live := shell(t, "kubectl-vectorsidecar inject -f "+folder+"/rollout.yaml --sidecar "+folder+"/sidecar.yaml 2>/dev/null")
	require.NotEqual(t, podSpec(t, manifest), podSpec(t, live), "the sidecar is injected")
	require.Equal(t, podSpec(t, manifest, rule.JQPathExpressions...), podSpec(t, live, rule.JQPathExpressions...))
}

func readSample(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "docs", "samples", name))
	require.NoError(t, err)
	return string(text)
}

// podSpec returns the pod spec of the Rollout among documents, without the items that jq expressions select.
func podSpec(t *testing.T, documents string, ignored ...string) any {
	t.Helper()
	for document := range strings.SplitSeq(documents, "\n---\n") {
		var object map[string]any
		require.NoError(t, yaml.Unmarshal([]byte(document), &object))
		if object["kind"] != "Rollout" {
			continue
		}
		var value any = object
		for _, expression := range ignored {
			query, err := gojq.Parse("del(" + expression + ")")
			require.NoError(t, err)
			var ok bool
			value, ok = query.Run(value).Next()
			require.True(t, ok)
			require.NotImplements(t, (*error)(nil), value)
		}
		query, err := gojq.Parse(".spec.template.spec")
		require.NoError(t, err)
		spec, _ := query.Run(value).Next()
		return spec
	}
	require.Fail(t, "there is no Rollout")
	return nil
}
