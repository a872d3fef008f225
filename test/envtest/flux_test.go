// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"strings"
	"testing"

	"github.com/fluxcd/pkg/ssa"
	"github.com/fluxcd/pkg/ssa/jsondiff"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// fluxDrift returns the results of the drift detection of kustomize-controller and of helm-controller for a manifest, with
// the libraries that they use.
func fluxDrift(t *testing.T, kustomizeController *ssa.ResourceManager, object *unstructured.Unstructured) (kustomize ssa.Action, helm jsondiff.DiffType) {
	t.Helper()
	entry, _, _, err := kustomizeController.Diff(t.Context(), object.DeepCopy(), ssa.DefaultDiffOptions())
	require.NoError(t, err)
	drift, err := jsondiff.Unstructured(t.Context(), world.Client, object.DeepCopy(), jsondiff.FieldOwner("helm-controller"))
	require.NoError(t, err)
	return entry.Action, drift.Type
}

// Flux does not find drift in a workload with the sidecar, and applies a change of the manifest without removing it.
func TestVectorSidecar_KeepsWorkloadsInSyncForFlux(t *testing.T) {
	t.Parallel()
	kustomizeController := ssa.NewResourceManager(world.Client, nil, ssa.Owner{Field: "kustomize-controller", Group: "kustomize.toolkit.fluxcd.io"})
	for name, test := range synced {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := world.Namespace(t)
			object := &unstructured.Unstructured{}
			require.NoError(t, yaml.Unmarshal([]byte(syncedManifest(test.initContainers)), &object.Object))
			object.SetNamespace(namespace)
			entry, err := kustomizeController.Apply(t.Context(), object.DeepCopy(), ssa.DefaultApplyOptions())
			require.NoError(t, err)
			require.Equal(t, ssa.CreatedAction, entry.Action)
			vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").Sidecar(test.change).Build()
			world.Create(t, vs)
			deployment := cart(namespace)
			harness.Until(t, world, vs, "readiness", isUpToDate)
			world.Get(t, deployment)
			require.True(t, isInjected(deployment))

			kustomize, helm := fluxDrift(t, kustomizeController, object)
			require.Equal(t, ssa.UnchangedAction, kustomize)
			require.Equal(t, jsondiff.DiffTypeNone, helm)

			text := strings.Replace(syncedManifest(test.initContainers), "app:1", "app:2", 1)
			require.NoError(t, yaml.Unmarshal([]byte(text), &object.Object))
			object.SetNamespace(namespace)
			kustomize, helm = fluxDrift(t, kustomizeController, object)
			require.Equal(t, ssa.ConfiguredAction, kustomize)
			require.Equal(t, jsondiff.DiffTypeUpdate, helm)
			_, err = kustomizeController.Apply(t.Context(), object, ssa.DefaultApplyOptions())
			require.NoError(t, err)
			world.Get(t, deployment)
			require.True(t, isInjected(deployment))
		})
	}
}
