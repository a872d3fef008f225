// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

// What Artifact Hub shows of the chart is what is in it.
func TestChart_DescribesItselfForArtifactHub(t *testing.T) {
	card := load(t).Metadata.Annotations
	all := objects(t, join(render(t, load(t), nil)))
	definition := theDefinition(t, all)

	var images []struct{ Image string }
	require.NoError(t, yaml.Unmarshal([]byte(card["artifacthub.io/images"]), &images))
	require.Len(t, images, 2)
	operator := ofKind[appsv1.Deployment](t, all, "Deployment").Spec.Template.Spec.Containers[0].Image
	require.Equal(t, operator, images[0].Image)
	name, tag, _ := strings.Cut(operator, ":")
	require.Equal(t, name+"-drain-gate:"+tag, images[1].Image)
	defaults, err := os.ReadFile("../../values.yaml")
	require.NoError(t, err)
	require.Contains(t, string(defaults), "\n      image: "+images[1].Image+"\n")

	var kinds []struct{ Kind, Version, Name string }
	require.NoError(t, yaml.Unmarshal([]byte(card["artifacthub.io/crds"]), &kinds))
	require.Len(t, kinds, 1)
	require.Equal(t, definition.Name, kinds[0].Name)
	require.Equal(t, definition.Spec.Names.Kind, kinds[0].Kind)
	require.Equal(t, definition.Spec.Versions[0].Name, kinds[0].Version)

	var examples []map[string]any
	require.NoError(t, yaml.Unmarshal([]byte(card["artifacthub.io/crdsExamples"]), &examples))
	require.NotEmpty(t, examples)
	withWhatTheyNeed(t, all)
	harness.Eventually(t, "VectorSidecars to be served", func() bool {
		return cluster.List(t.Context(), &v1alpha1.VectorSidecarList{}) == nil
	})
	for _, example := range examples {
		apply(t, &unstructured.Unstructured{Object: example}, client.DryRunAll)
	}
}
