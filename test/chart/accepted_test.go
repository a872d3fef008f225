// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

func TestEveryEnvironmentIsAccepted(t *testing.T) {
	for name, file := range environments(t) {
		t.Run(name, func(t *testing.T) {
			helm(t, "lint", "--strict", chartDir, "-f", file)
			all := objects(t, helm(t, "template", release, chartDir, "-n", namespace, "-f", file))
			withDefinition(t, all)
			for _, object := range all {
				apply(t, object, client.DryRunAll)
			}
			requireRestricted(t, ofKind[appsv1.Deployment](t, all, "Deployment"))
		})
	}
}

// What is installed is what controller-gen made, and the names around it.
func TestDefinitionIsTheGeneratedOne(t *testing.T) {
	text, err := os.ReadFile(chartDir + "/files/crds/observability.kontroloop.ai_vectorsidecars.yaml")
	require.NoError(t, err)
	var generated apiextensionsv1.CustomResourceDefinition
	require.NoError(t, yaml.UnmarshalStrict(text, &generated))

	manifest := helm(t, "template", release, chartDir, "-s", "templates/crds.yaml")
	rendered := ofKind[apiextensionsv1.CustomResourceDefinition](t, objects(t, manifest), crdKind)
	require.Equal(t, crdName, rendered.Name)
	require.Equal(t, generated.Spec, rendered.Spec)

	// kubectl apply without --server-side keeps a copy in an annotation, and
	// annotations may have 256 KiB together.
	size, err := json.Marshal(rendered)
	require.NoError(t, err)
	require.Less(t, len(size), 200<<10, "shorten the descriptions: maxDescLen in the Makefile")
}

// withDefinition installs the CustomResourceDefinition for the time of the test.
func withDefinition(t *testing.T, all []*unstructured.Unstructured) {
	t.Helper()
	for _, object := range all {
		if object.GetKind() == crdKind {
			apply(t, object)
			t.Cleanup(func() { removeDefinition(t) })
		}
	}
}

func requireRestricted(t *testing.T, deployment *appsv1.Deployment) {
	t.Helper()
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	require.NoError(t, err)
	restricted := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
	template := deployment.Spec.Template
	result := policy.AggregateCheckResults(evaluator.EvaluatePod(restricted, &template.ObjectMeta, &template.Spec))
	require.True(t, result.Allowed, result.ForbiddenDetail())
	for _, container := range template.Spec.Containers {
		// Ours alone: the standard does not ask for it.
		require.True(t, *container.SecurityContext.ReadOnlyRootFilesystem, container.Name)
	}
}
