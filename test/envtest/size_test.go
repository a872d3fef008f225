// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// bloat makes a VectorSidecar larger than the limit, and waits until that is reported.
func bloat(t *testing.T, vs *v1alpha1.VectorSidecar) {
	t.Helper()
	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) {
		vs.Spec.Values = &apiextensionsv1.JSON{Raw: []byte(`{"a":"` + strings.Repeat("x", 1_200_000) + `"}`)}
	})
	harness.Until(t, world, vs, "its rejection", func(vs *v1alpha1.VectorSidecar) bool {
		return vs.Status.ObservedGeneration == vs.Generation && condition(vs, meta.ConditionStalled) == "True"
	})
	require.Contains(t, message(vs, meta.ConditionError), "TooLarge: VectorSidecar "+vs.Namespace+"/logs has 1172 KiB; at most 512 KiB are allowed")
}

// A VectorSidecar becomes too large to be read. Injected sidecars stay unchanged, and new workloads get none.
func TestVectorSidecar_KeepsSidecarsWhenTooLarge(t *testing.T) {
	t.Parallel()
	deployment, vs := injected(t)
	before := rawTemplate(t, deployment)

	bloat(t, vs)

	// Until the VectorSidecar is smaller again, selected workloads are not injected.
	late := objects.NewDeployment("late", vs.Namespace).Labeled("logs", "vector").Build()
	world.Create(t, late)
	harness.Change(t, world, deployment, func(d *appsv1.Deployment) { d.Labels["team"] = "shop" })
	require.Equal(t, before, rawTemplate(t, deployment))
	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Values = nil })
	harness.Until(t, world, late, "the sidecar", isInjected)
	require.Equal(t, before, rawTemplate(t, deployment))
}

// A VectorSidecar becomes too large to be read and is then deleted. Its deletionPolicy still applies.
func TestDeletionPolicy_AppliesToTooLargeVectorSidecar(t *testing.T) {
	t.Parallel()
	for policy, kept := range map[v1alpha1.DeletionPolicy]bool{v1alpha1.DeletionRemove: false, v1alpha1.DeletionOrphan: true} {
		t.Run(string(policy), func(t *testing.T) {
			t.Parallel()
			deployment, vs := injected(t)
			harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) {
				vs.Spec.DeletionPolicy = policy
				vs.Finalizers = append(vs.Finalizers, "example.com/own")
			})
			bloat(t, vs)

			require.NoError(t, world.Client.Delete(t.Context(), vs))

			harness.Until(t, world, vs, "the end of the test", func(vs *v1alpha1.VectorSidecar) bool { return len(vs.Finalizers) == 1 })
			require.Equal(t, []string{"example.com/own"}, vs.Finalizers, "those of others are theirs")
			world.Get(t, deployment)
			require.Equal(t, kept, isInjected(deployment))
			harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Finalizers = nil })
			require.NoError(t, client.IgnoreNotFound(world.Client.Delete(t.Context(), vs)))
		})
	}
}
