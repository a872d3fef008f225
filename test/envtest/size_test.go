// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// resize gives VectorSidecars values of a size in bytes, which no template reads.
func resize(t *testing.T, size int, sidecars ...*v1alpha1.VectorSidecar) {
	t.Helper()
	for _, vs := range sidecars {
		harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) {
			vs.Spec.Values = &apiextensionsv1.JSON{Raw: []byte(`{"a":"` + strings.Repeat("x", size) + `"}`)}
		})
	}
}

// Several VectorSidecars of one workload are too large for the cache, which has only a part of them. Each of them is
// injected, updated and removed.
func TestVectorSidecar_InjectsIfLarge(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	first, second := own("first", namespace, 9100).Build(), own("second", namespace, 9200).Build()
	for _, vs := range []*v1alpha1.VectorSidecar{first, second} {
		vs.Spec.Values = &apiextensionsv1.JSON{Raw: []byte(`{"a":"` + strings.Repeat("x", 100<<10) + `"}`)}
	}
	cart := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").Build()
	has := func(names ...string) func(*appsv1.Deployment) bool {
		return func(d *appsv1.Deployment) bool {
			var found []string
			for _, c := range d.Spec.Template.Spec.InitContainers {
				found = append(found, c.Name)
			}
			slices.Sort(found)
			return slices.Equal(found, names)
		}
	}
	world.Create(t, cart, first, second)
	harness.Until(t, world, cart, "both sidecars", has("vector-first", "vector-second"))

	harness.Change(t, world, first, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Sidecar.Name = "vector-other" })
	harness.Until(t, world, cart, "the changed sidecar", has("vector-other", "vector-second"))
	harness.Until(t, world, second, "readiness", isUpToDate)

	require.NoError(t, world.Client.Delete(t.Context(), first))
	harness.Until(t, world, cart, "one sidecar", has("vector-second"))
}

// Large VectorSidecars that precede another one are too large together. The other one is not updated, and its sidecar stays.
func TestVectorSidecar_KeepsSidecarIfPrecedingAreTooLarge(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	var preceding []*v1alpha1.VectorSidecar
	for i := range 5 {
		preceding = append(preceding, own(fmt.Sprintf("a%d", i), namespace, int32(9100+i)).Build())
		world.Create(t, preceding[i])
	}
	cart, last := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").Build(), own("last", namespace, 9200).Build()
	world.Create(t, cart, last)
	harness.Until(t, world, last, "readiness", isUpToDate)
	before := rawTemplate(t, cart)

	resize(t, 500<<10, preceding...)
	harness.Until(t, world, last, "the reported size", hasCondition(meta.ConditionStalled, metav1.ConditionTrue, meta.ReasonTooLarge))
	require.Contains(t, message(last, meta.ConditionReady), "VectorSidecar "+namespace+"/last has workloads that are also selected by 5 large VectorSidecars that take precedence, with ")
	require.Equal(t, before, rawTemplate(t, cart))

	resize(t, 1, preceding[0])
	harness.Until(t, world, last, "readiness", isUpToDate)
	require.Equal(t, before, rawTemplate(t, cart))
}

// The last known good spec in the status is large. The operator still reverts to it.
func TestOnFailureRevert_RestoresLargeSpec(t *testing.T) {
	t.Parallel()
	apps, vs := goingBack(t, 2, v1alpha1.OnFailureRevert)
	resize(t, 100<<10, vs)
	harness.Until(t, world, vs, "the stored spec", func(vs *v1alpha1.VectorSidecar) bool {
		return vs.Status.LastKnownGood != nil && len(vs.Status.LastKnownGood.Spec) > 100<<10
	})
	good := vs.Status.LastKnownGood

	harness.Change(t, world, vs, crash)
	harness.Until(t, world, vs, "the revert", isSpecReverted)
	for _, app := range apps {
		harness.Until(t, world, app, "the good spec", func(d *appsv1.Deployment) bool { return logLevel(d) == "info" })
	}
	world.Get(t, vs)
	require.Equal(t, good, vs.Status.LastKnownGood)
}
