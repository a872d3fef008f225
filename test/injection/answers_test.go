// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package injection

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// reportsLockedOverlaySet returns whether the conditions report that the OverlaySet of a namespace could not be written, and name
// the field manager or webhook.
func reportsLockedOverlaySet(conditions []metav1.Condition, namespace string) bool {
	ready := apimeta.FindStatusCondition(conditions, meta.ConditionReady)
	return ready != nil && strings.Contains(ready.Message, "OverlaySet "+namespace+"/"+meta.OverlaySet+": ") && strings.Contains(ready.Message, harness.Locked) &&
		apimeta.IsStatusConditionTrue(conditions, meta.ConditionReconciling)
}

func isLocked(vs *v1alpha1.VectorSidecar) bool {
	return reportsLockedOverlaySet(vs.Status.Conditions, vs.Namespace)
}

// mostTries is the maximum number of requests for a write that is always rejected, in the seconds of a test: eight
// retries of a conflict, and one retry for each event of the change. A loop would send hundreds.
const mostTries = int32(20)

// If a webhook rejects the operator's writes of an OverlaySet, the operator still writes the sidecar into workloads,
// and the status of the VectorSidecar reports the rejection. The operator retries only a few times. When the writes
// are accepted again, it updates the OverlaySet or finishes the deletion.
func TestOverlaySet_ReportsRejectedWrites(t *testing.T) {
	for name, answer := range harness.AnswersFor("overlaysets") {
		t.Run("created, "+name, func(t *testing.T) {
			vs, way := locked(t, "", answer)
			way.IsOn.Store(true)
			cart := objects.NewDeployment("cart", vs.Namespace).WithReplicas(0).Labeled("logs", "vector").Build()
			world.Create(t, cart, vs)

			harness.Until(t, world, cart, "its sidecar", func(d *appsv1.Deployment) bool { return has(d, "vector") })
			harness.Until(t, world, vs, "the reported message", isLocked)
			require.LessOrEqual(t, way.Count.Load(), mostTries)

			way.IsOn.Store(false)
			awaitOverlay(t, vs)
			harness.Until(t, world, vs, "no message", isReady)
		})
		t.Run("changed, "+name, func(t *testing.T) {
			vs, way := locked(t, "/"+meta.OverlaySet, answer)
			cart := objects.NewDeployment("cart", vs.Namespace).WithReplicas(0).Labeled("logs", "vector").Build()
			world.Create(t, cart, vs)
			set := awaitOverlay(t, vs)
			before := set.Generation
			harness.Until(t, world, vs, "its sidecar", isReady)

			way.IsOn.Store(true)
			harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: "warn"} })
			harness.Until(t, world, cart, "the change", hasLogLevel("warn"))
			harness.Until(t, world, vs, "the reported message", isLocked)
			require.LessOrEqual(t, way.Count.Load(), mostTries)
			late := objects.NewDeployment("late", vs.Namespace).WithReplicas(0).Labeled("logs", "vector").Build()
			world.Create(t, late)
			harness.Until(t, world, late, "the change", hasLogLevel("warn"))

			way.IsOn.Store(false)
			harness.Until(t, world, set, "the change", func(o *v1alpha1.OverlaySet) bool { return o.Generation > before })
			harness.Until(t, world, vs, "no message", isReady)
		})
		t.Run("deleted, "+name, func(t *testing.T) {
			vs, way := locked(t, "/"+meta.OverlaySet, answer)
			cart := objects.NewDeployment("cart", vs.Namespace).WithReplicas(0).Labeled("logs", "vector").Build()
			world.Create(t, cart, vs)
			awaitOverlay(t, vs)
			harness.Until(t, world, vs, "its sidecar", isReady)

			way.IsOn.Store(true)
			world.Delete(t, vs)
			harness.Until(t, world, vs, "the reported message", isLocked)
			harness.Until(t, world, cart, "no sidecar", isClean)
			require.LessOrEqual(t, way.Count.Load(), mostTries)

			way.IsOn.Store(false)
			harness.Eventually(t, "the deletion of the VectorSidecar", func() bool {
				return apierrors.IsNotFound(world.Client.Get(t.Context(), client.ObjectKeyFromObject(vs), &v1alpha1.VectorSidecar{}))
			})
		})
	}
}

// If the OverlaySet of one namespace cannot be written, the status of the ClusterVectorSidecar names that namespace
// only. The operator injects the sidecar in that namespace itself. The OverlaySets of other namespaces are written.
func TestOverlaySet_ReportsNamespaceOfRejectedWrites(t *testing.T) {
	for name, answer := range harness.AnswersFor("overlaysets") {
		t.Run(name, func(t *testing.T) {
			cluster := world.ClusterVectorSidecar(t)
			own := meta.ClusterSidecarName(cluster.Name)
			closed, open := world.Namespace(t, "team", cluster.Name), world.Namespace(t, "team", cluster.Name)
			way := &harness.Answers{Path: "/namespaces/" + closed + "/overlaysets", With: answer}
			change := &harness.Answers{Path: way.Path + "/" + meta.OverlaySet, With: answer}
			world.RunThrough(t, &running, options, way, change)
			saysWhere := func(c *v1alpha1.ClusterVectorSidecar) bool {
				return c.Status.ObservedGeneration == c.Generation && reportsLockedOverlaySet(c.Status.Conditions, closed) &&
					!strings.Contains(apimeta.FindStatusCondition(c.Status.Conditions, meta.ConditionReady).Message, open)
			}

			way.IsOn.Store(true)
			var carts []*appsv1.Deployment
			for _, namespace := range []string{closed, open} {
				cart := objects.NewDeployment("cart", namespace).WithReplicas(0).Labeled("logs", "vector").Build()
				carts = append(carts, cart)
				world.Create(t, cart)
			}
			cluster.Spec.Rollout = &v1alpha1.RolloutSpec{Soak: &metav1.Duration{}}
			world.Create(t, cluster)
			for _, cart := range carts {
				harness.Until(t, world, cart, "its sidecar", func(d *appsv1.Deployment) bool { return has(d, "vector") })
			}
			awaitOverlay(t, sidecarInNamespace(cluster, open))
			harness.Until(t, world, cluster, "the reported message", saysWhere)
			require.LessOrEqual(t, way.Count.Load(), mostTries)
			require.False(t, hasOverlay(t, closed, own))
			way.IsOn.Store(false)

			// Creates are accepted now, but updates are rejected.
			awaitOverlay(t, sidecarInNamespace(cluster, closed))
			change.IsOn.Store(true)
			harness.Change(t, world, cluster, func(c *v1alpha1.ClusterVectorSidecar) { c.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: "warn"} })
			for _, cart := range carts {
				harness.Until(t, world, cart, "the change", hasLogLevel("warn"))
			}
			harness.Until(t, world, cluster, "the reported message", saysWhere)

			// The ClusterVectorSidecar is deleted only when all of its overlays are removed.
			world.Delete(t, cluster)
			awaitNoOverlay(t, open, own)
			for _, cart := range carts {
				harness.Until(t, world, cart, "no sidecar", isClean)
			}
			harness.Until(t, world, cluster, "the reported message", saysWhere)
			require.LessOrEqual(t, change.Count.Load(), 2*mostTries)
			change.IsOn.Store(false)
			harness.Eventually(t, "the deletion of the ClusterVectorSidecar", func() bool {
				return apierrors.IsNotFound(world.Client.Get(t.Context(), client.ObjectKeyFromObject(cluster), &v1alpha1.ClusterVectorSidecar{}))
			})
		})
	}
}

// locked returns a VectorSidecar in a namespace where requests for the OverlaySet can be rejected with an answer.
func locked(t *testing.T, path string, answer apierrors.APIStatus) (*v1alpha1.VectorSidecar, *harness.Answers) {
	t.Helper()
	namespace := world.Namespace(t)
	way := &harness.Answers{Path: "/namespaces/" + namespace + "/overlaysets" + path, With: answer}
	world.RunThrough(t, &running, options, way)
	return objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithSoak(0).Build(), way
}

func isReady(vs *v1alpha1.VectorSidecar) bool {
	return vs.Status.ObservedGeneration == vs.Generation && apimeta.IsStatusConditionTrue(vs.Status.Conditions, meta.ConditionReady) &&
		!apimeta.IsStatusConditionTrue(vs.Status.Conditions, meta.ConditionReconciling)
}

func hasLogLevel(level string) func(*appsv1.Deployment) bool {
	return func(d *appsv1.Deployment) bool { return logLevel(d) == level }
}
