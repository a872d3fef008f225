// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

// The annotations for Artifact Hub name the images and kinds that the chart installs, and contain valid examples.
func TestChart_HasValidArtifactHubAnnotations(t *testing.T) {
	card := load(t).Metadata.Annotations
	all := objects(t, join(render(t, load(t), nil)))

	var images []struct{ Image string }
	require.NoError(t, yaml.Unmarshal([]byte(card["artifacthub.io/images"]), &images))
	require.Len(t, images, 3)
	operator := ofKind[appsv1.Deployment](t, all, "Deployment").Spec.Template.Spec.Containers[0].Image
	require.Equal(t, operator, images[0].Image)
	name, tag, _ := strings.Cut(operator, ":")
	require.Equal(t, name+"-drain-gate:"+tag, images[1].Image)
	defaults, err := os.ReadFile("../../values.yaml")
	require.NoError(t, err)
	require.Contains(t, string(defaults), "\n      image: "+images[1].Image+"\n")
	require.Contains(t, string(defaults), "\n  image: "+images[2].Image+"\n")

	type kind struct{ Kind, Version, Name string }
	var kinds, defined []kind
	require.NoError(t, yaml.Unmarshal([]byte(card["artifacthub.io/crds"]), &kinds))
	for _, object := range all {
		if object.GetKind() == crdKind {
			definition := ofKind[apiextensionsv1.CustomResourceDefinition](t, []*unstructured.Unstructured{object}, crdKind)
			defined = append(defined, kind{definition.Spec.Names.Kind, definition.Spec.Versions[0].Name, definition.Name})
		}
	}
	require.ElementsMatch(t, defined, kinds)

	var examples []map[string]any
	require.NoError(t, yaml.Unmarshal([]byte(card["artifacthub.io/crdsExamples"]), &examples))
	require.NotEmpty(t, examples)
	createDependencies(t, all)
	harness.Eventually(t, "VectorSidecars to be served", func() bool {
		return cluster.List(t.Context(), &v1alpha1.VectorSidecarList{}) == nil
	})
	for _, example := range examples {
		apply(t, &unstructured.Unstructured{Object: example}, client.DryRunAll)
	}
}

// The metadata of the chart names the organization, and links to existing files of the repository.
func TestChart_LinksToExistingFiles(t *testing.T) {
	const organization = "https://github.com/kontroloop-ai"
	metadata := load(t).Metadata
	require.Equal(t, []string{organization + "/vector-sidecar-operator"}, metadata.Sources)
	require.Len(t, metadata.Maintainers, 1)
	require.Equal(t, organization, metadata.Maintainers[0].URL)
	require.Empty(t, metadata.Maintainers[0].Email)

	type link struct{ Name, URL string }
	var links []link
	require.NoError(t, yaml.Unmarshal([]byte(metadata.Annotations["artifacthub.io/links"]), &links))
	require.NotEmpty(t, links)
	require.Contains(t, metadata.Icon, "/main/", "below the folder of a branch")
	for _, link := range append(links, link{"icon", metadata.Icon}) {
		if _, file, ok := strings.Cut(link.URL, "/main/"); ok {
			require.FileExists(t, filepath.Join(root, file), link.Name)
		} else {
			require.True(t, strings.HasPrefix(link.URL, metadata.Sources[0]), link.URL)
		}
	}
	var changes []struct{ Kind, Description string }
	require.NoError(t, yaml.Unmarshal([]byte(metadata.Annotations["artifacthub.io/changes"]), &changes))
	require.NotEmpty(t, changes)
}
