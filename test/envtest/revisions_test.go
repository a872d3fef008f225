// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

func installationName() types.NamespacedName {
	return types.NamespacedName{Namespace: options.Namespace, Name: options.EnvironmentsConfigMap}
}

// storedRevisions returns the installation's stored revisions, the newest one first.
func storedRevisions(t *testing.T) []appsv1.ControllerRevision {
	t.Helper()
	found, err := source.Revisions(t.Context(), livelist.New(world.Client), installationName())
	require.NoError(t, err)
	return found
}

// storedSince returns the stored revisions that are not in earlier. The operator may have deleted old ones since.
func storedSince(t *testing.T, earlier []appsv1.ControllerRevision) []appsv1.ControllerRevision {
	t.Helper()
	return slices.DeleteFunc(storedRevisions(t), func(stored appsv1.ControllerRevision) bool {
		return slices.ContainsFunc(earlier, func(before appsv1.ControllerRevision) bool { return before.Name == stored.Name })
	})
}

// restart starts another leader.
func restart(t *testing.T) {
	t.Helper()
	require.NoError(t, running.Stop())
	running = world.RunOperator(options)
}

// waiting creates a VectorSidecar in the first wave, which soaks forever, and one in the last. Both finished the
// first revision.
func waiting(t *testing.T, rules string) (installation *corev1.ConfigMap, canary, rest *inWave, first string) {
	t.Helper()
	installation = wavesOf(t, "1s", rules)
	harness.Change(t, world, installation, func(c *corev1.ConfigMap) {
		c.Data["development.yaml"] = fmt.Sprintf("sidecar: {logLevel: info, env: [{name: VALUES_OF, value: %s}]}", t.Name())
	})
	canary, rest = newInWave(t, "canary"), newInWave(t, "other")
	// The first reconcile of a VectorSidecar may read the values before these, on a busy machine. It can be complete with them.
	harness.Until(t, world, canary.app, "the values", func(d *appsv1.Deployment) bool { return valuesOf(d) == t.Name() })
	canary.until(t, v1alpha1.RolloutComplete, "")
	first = canary.vs.Status.Rollout.Revision
	rest.until(t, v1alpha1.RolloutComplete, first)
	harness.Until(t, world, rest.app, "its sidecar", func(d *appsv1.Deployment) bool { return logLevel(d) == "info" })
	harness.Change(t, world, installation, func(c *corev1.ConfigMap) {
		c.Data[desired.RolloutKey] = strings.Replace(c.Data[desired.RolloutKey], "soak: 1s", "soak: 1h", 1)
	})
	return installation, canary, rest, first
}

// valuesOf returns the name of the test whose values the sidecar has.
func valuesOf(d *appsv1.Deployment) string {
	for _, container := range d.Spec.Template.Spec.InitContainers {
		for _, variable := range container.Env {
			if variable.Name == "VALUES_OF" {
				return variable.Value
			}
		}
	}
	return ""
}

// soaks waits until the VectorSidecar soaks a revision that is not other.
func (w *inWave) soaks(t *testing.T, other string) {
	t.Helper()
	harness.Until(t, world, w.vs, "the soak of the next revision", func(vs *v1alpha1.VectorSidecar) bool {
		is := vs.Status.Rollout
		return is.State == v1alpha1.RolloutSoaking && is.Revision != other
	})
}

// A VectorSidecar waits for its wave. The operator injects, corrects and changes sidecars with the templates and values
// of its current revision.
func TestWave_UsesPreviousRevisionWhileWaiting(t *testing.T) {
	installation, canary, rest, first := waiting(t, "")
	level(t, installation, "warn")
	canary.soaks(t, first)
	rest.until(t, v1alpha1.RolloutWaiting, first)
	for _, isRestarted := range []bool{false, true} {
		if isRestarted {
			restart(t)
		}
		added := objects.NewDeployment(fmt.Sprint("added-", isRestarted), rest.vs.Namespace).Labeled("logs", "vector").Build()
		world.Create(t, added)
		harness.Until(t, world, added, "a new workload's sidecar", func(d *appsv1.Deployment) bool { return logLevel(d) == "info" })
	}
	harness.Change(t, world, rest.app, func(d *appsv1.Deployment) { d.Spec.Template.Spec.InitContainers = nil })
	harness.Until(t, world, rest.app, "a correction", func(d *appsv1.Deployment) bool { return logLevel(d) == "info" })
	harness.Change(t, world, rest.vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Sidecar = &v1alpha1.SidecarSpec{Threads: ptr.To[int32](3)} })
	harness.Until(t, world, rest.app, "its own change", func(d *appsv1.Deployment) bool {
		return logLevel(d) == "info" && strings.Contains(fmt.Sprint(d.Spec.Template.Spec.InitContainers), "VECTOR_THREADS")
	})
	late := objects.NewVectorSidecar("late", rest.vs.Namespace).Selecting("late", "yes").WithSoak(0).Build()
	lateApp := objects.NewDeployment("late", rest.vs.Namespace).Labeled("late", "yes").Build()
	world.Create(t, lateApp, late)
	harness.Until(t, world, lateApp, "the sidecar of a new VectorSidecar", func(d *appsv1.Deployment) bool { return logLevel(d) == "info" })
}

// A stricter policy applies at once for all VectorSidecars. A looser one applies to each wave when it starts the
// revision.
func TestPolicy_RelaxesOnlyWithItsRevision(t *testing.T) {
	installation, canary, rest, first := waiting(t, "")
	allow := func(registry string) {
		t.Helper()
		harness.Change(t, world, installation, func(c *corev1.ConfigMap) { c.Data[desired.PolicyKey] = "images: {registries: [" + registry + "]}" })
	}
	refused := func(w *inWave, why string) {
		t.Helper()
		harness.Until(t, world, w.vs, why, func(vs *v1alpha1.VectorSidecar) bool {
			return strings.Contains(message(vs, meta.ConditionReady), "PolicyViolation: ") && strings.Contains(message(vs, meta.ConditionReady), why)
		})
	}
	allow("docker.io/timberio")
	rest.until(t, v1alpha1.RolloutComplete, "")
	harness.Until(t, world, rest.vs, "a revision that writes nothing", func(vs *v1alpha1.VectorSidecar) bool {
		return vs.Status.Rollout.State == v1alpha1.RolloutComplete && vs.Status.Rollout.Revision != first
	})
	strict := rest.vs.Status.Rollout.Revision
	for _, one := range []*inWave{canary, rest} {
		harness.Change(t, world, one.vs, func(vs *v1alpha1.VectorSidecar) {
			vs.Spec.Sidecar = &v1alpha1.SidecarSpec{Image: "registry.example/vector:0.56.0"}
		})
		refused(one, "(policy.images.registries)")
	}

	allow("registry.example")
	harness.Until(t, world, canary.app, "the allowed sidecar", func(d *appsv1.Deployment) bool {
		return strings.Contains(fmt.Sprint(d.Spec.Template.Spec.InitContainers), "registry.example/vector:0.56.0")
	})
	canary.soaks(t, strict)
	rest.until(t, v1alpha1.RolloutWaiting, strict)
	refused(rest, "rejected by the policy of revision "+strict)
	restart(t)
	refused(rest, "rejected by the policy of revision "+strict)

	allow("elsewhere.example")
	refused(rest, `is from a registry that is not allowed; the platform allows elsewhere.example (policy.images.registries)`)
	refused(canary, `is from a registry that is not allowed; the platform allows elsewhere.example (policy.images.registries)`)

	allow("registry.example")
	harness.Change(t, world, installation, func(c *corev1.ConfigMap) {
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, meta.AnnotationPromoteRollout, canary.vs.Status.Rollout.Revision+"/canary")
	})
	harness.Until(t, world, rest.app, "the allowed sidecar", func(d *appsv1.Deployment) bool {
		return strings.Contains(fmt.Sprint(d.Spec.Template.Spec.InitContainers), "registry.example/vector:0.56.0")
	})
}

// With onFailure Revert, a revision fails in the first wave. That wave returns to the previous revision, and the next
// wave does not start the failed one.
func TestHalt_RevertsFailedRevision(t *testing.T) {
	installation, canary, rest, first := waiting(t, "halt: {}\nonFailure: Revert")
	harness.Until(t, world, canary.app, "its rollout", isRolledOut)
	harness.Change(t, world, installation, func(c *corev1.ConfigMap) {
		c.Data["development.yaml"] = "sidecar: {logLevel: warn, image: registry.example/vector:dies}"
	})
	canary.until(t, v1alpha1.RolloutReverted, first)
	rest.until(t, v1alpha1.RolloutHalted, first)
	harness.Until(t, world, canary.app, "the previous sidecar", func(d *appsv1.Deployment) bool { return logLevel(d) == "info" && isRolledOut(d) })
	harness.Until(t, world, canary.vs, "reason Reverted", func(vs *v1alpha1.VectorSidecar) bool {
		return strings.Contains(message(vs, meta.ConditionReady), "Reverted: 1 of 1 Deployments run the current sidecar") && vs.Status.Rollout.CompletionTime != nil
	})
	require.NotEqual(t, first, canary.vs.Status.Rollout.FailedRevision)
	restart(t)
	harness.Change(t, world, canary.vs, func(vs *v1alpha1.VectorSidecar) {
		metav1.SetMetaDataAnnotation(&vs.ObjectMeta, meta.AnnotationReconcileAt, "again")
	})
	harness.Until(t, world, canary.vs, "a handled request", func(vs *v1alpha1.VectorSidecar) bool { return vs.Status.LastHandledReconcileAt == "again" })
	require.Equal(t, v1alpha1.RolloutReverted, canary.vs.Status.Rollout.State, "it is not tried again")

	level(t, installation, "error")
	harness.Until(t, world, canary.app, "another change", func(d *appsv1.Deployment) bool { return logLevel(d) == "error" })
	world.Get(t, canary.vs)
	require.Equal(t, first, canary.vs.Status.Rollout.Previous)
}

// A user undoes a revision. The VectorSidecars that have it return to the previous revision.
func TestUndo_RevertsInstallation(t *testing.T) {
	installation, canary, _, first := waiting(t, "")
	level(t, installation, "warn")
	canary.soaks(t, first)
	second := canary.vs.Status.Rollout.Revision
	harness.Change(t, world, installation, func(c *corev1.ConfigMap) {
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, meta.AnnotationUndoRollout, second+"/"+first)
	})
	harness.Until(t, world, canary.app, "the previous sidecar", func(d *appsv1.Deployment) bool { return logLevel(d) == "info" })
	canary.until(t, v1alpha1.RolloutSoaking, first)
	require.Equal(t, first, storedRevisions(t)[0].Labels[meta.LabelRevision], "it was given out last")

	harness.Change(t, world, installation, func(c *corev1.ConfigMap) {
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, meta.AnnotationUndoRollout, second+"/0123456789")
	})
	harness.Until(t, world, canary.vs, "the report of a missing revision", func(vs *v1alpha1.VectorSidecar) bool {
		return vs.Status.Rollout.Message == "stored revision 0123456789: the ControllerRevision does not exist"
	})
	require.Equal(t, first, canary.vs.Status.Rollout.Revision)
}

// A user promotes one VectorSidecar before its wave, and reverts it. Others stay unchanged. If the named revision is
// not stored, the operator reports that.
func TestPromote_StartsRevisionOfOneVectorSidecar(t *testing.T) {
	installation, canary, rest, first := waiting(t, "")
	level(t, installation, "warn")
	canary.soaks(t, first)
	second := canary.vs.Status.Rollout.Revision
	rest.until(t, v1alpha1.RolloutWaiting, first)

	harness.Change(t, world, rest.vs, func(vs *v1alpha1.VectorSidecar) {
		metav1.SetMetaDataAnnotation(&vs.ObjectMeta, meta.AnnotationPromoteRollout, second)
	})
	harness.Until(t, world, rest.app, "the change during the previous soak", func(d *appsv1.Deployment) bool { return logLevel(d) == "warn" })
	harness.Change(t, world, rest.vs, func(vs *v1alpha1.VectorSidecar) {
		metav1.SetMetaDataAnnotation(&vs.ObjectMeta, meta.AnnotationUndoRollout, second+"/"+first)
	})
	harness.Until(t, world, rest.app, "the previous sidecar", func(d *appsv1.Deployment) bool { return logLevel(d) == "info" })
	rest.until(t, v1alpha1.RolloutReverted, first)
	harness.Until(t, world, rest.vs, "a message about the problem", func(vs *v1alpha1.VectorSidecar) bool {
		return isReady(vs) && strings.Contains(message(vs, meta.ConditionReady), "an annotation reverts the VectorSidecar from revision "+second+" to "+first)
	})
	restart(t)
	harness.Change(t, world, rest.app, func(d *appsv1.Deployment) { d.Spec.Template.Spec.InitContainers = nil })
	harness.Until(t, world, rest.app, "a correction by another leader", func(d *appsv1.Deployment) bool { return isInjected(d) && logLevel(d) == "info" })
	world.Get(t, canary.app)
	require.Equal(t, "warn", logLevel(canary.app))

	harness.Change(t, world, rest.vs, func(vs *v1alpha1.VectorSidecar) { delete(vs.Annotations, meta.AnnotationUndoRollout) })
	harness.Until(t, world, rest.app, "the change again", func(d *appsv1.Deployment) bool { return logLevel(d) == "warn" })

	harness.Change(t, world, rest.vs, func(vs *v1alpha1.VectorSidecar) {
		metav1.SetMetaDataAnnotation(&vs.ObjectMeta, meta.AnnotationUndoRollout, second+"/0123456789")
	})
	harness.Until(t, world, rest.vs, "the report of a missing revision", func(vs *v1alpha1.VectorSidecar) bool {
		return strings.Contains(message(vs, meta.ConditionReady), "stored revision 0123456789: the ControllerRevision does not exist")
	})
	rest.until(t, v1alpha1.RolloutComplete, second)
	require.Equal(t, "warn", logLevel(rest.app))
}

// The stored revision of a VectorSidecar cannot be read. Only removals are written until it can be read again.
func TestRevision_StopsWritesIfUnreadable(t *testing.T) {
	for name, test := range map[string]struct {
		damage func(*testing.T, *appsv1.ControllerRevision)
		want   string
	}{
		"deleted": {func(t *testing.T, of *appsv1.ControllerRevision) {
			require.NoError(t, world.Client.Delete(t.Context(), of))
		}, "the ControllerRevision does not exist"},
		"of a later release": {func(t *testing.T, of *appsv1.ControllerRevision) {
			later := &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Namespace: of.Namespace, Name: of.Name, Labels: of.Labels, OwnerReferences: of.OwnerReferences}}
			later.Data.Raw, later.Revision = []byte(`{"format": 3}`), of.Revision
			require.NoError(t, world.Client.Delete(t.Context(), of))
			require.NoError(t, world.Client.Create(t.Context(), later))
			t.Cleanup(func() { // No other test can store the same revision as long as it exists.
				require.NoError(t, client.IgnoreNotFound(world.Client.Delete(context.WithoutCancel(t.Context()), later)))
			})
		}, "has format 3, and this release reads only format 1"},
	} {
		t.Run(name, func(t *testing.T) {
			installation, canary, rest, first := waiting(t, "")
			level(t, installation, "warn")
			canary.soaks(t, first)
			rest.until(t, v1alpha1.RolloutWaiting, first)
			require.NoError(t, running.Stop())
			for _, one := range storedRevisions(t) {
				if one.Labels[meta.LabelRevision] == first {
					test.damage(t, &one)
				}
			}
			added := objects.NewDeployment("added", rest.vs.Namespace).Labeled("logs", "vector").Build()
			world.Create(t, added)
			running = world.RunOperator(options)
			harness.Until(t, world, rest.vs, "the state PodsOutdated", func(vs *v1alpha1.VectorSidecar) bool {
				ready := message(vs, meta.ConditionReady)
				return strings.Contains(ready, "WaitingForWave: 2 of 2 Deployments are waiting") && strings.Contains(ready, test.want)
			})
			world.Get(t, added)
			require.Empty(t, logLevel(added))
			harness.Change(t, world, installation, func(c *corev1.ConfigMap) {
				metav1.SetMetaDataAnnotation(&c.ObjectMeta, meta.AnnotationPromoteRollout, canary.vs.Status.Rollout.Revision+"/canary")
			})
			harness.Until(t, world, added, "the present revision", func(d *appsv1.Deployment) bool { return logLevel(d) == "warn" })
		})
	}
}

// Stored revisions that no VectorSidecar uses are deleted.
func TestRevision_DeletesUnneededRecords(t *testing.T) {
	installation := wavesOf(t, "1s", "")
	one := newInWave(t, "other")
	var given []string
	for n := range 13 {
		harness.Change(t, world, installation, func(c *corev1.ConfigMap) {
			c.Data["development.yaml"] = fmt.Sprintf("sidecar: {threads: %d}", n+1)
		})
		one.until(t, v1alpha1.RolloutComplete, "")
		harness.Until(t, world, one.vs, "the next revision", func(vs *v1alpha1.VectorSidecar) bool {
			return len(given) == 0 || vs.Status.Rollout.Revision != given[len(given)-1]
		})
		given = append(given, one.vs.Status.Rollout.Revision)
	}
	stored := storedRevisions(t)
	require.Len(t, stored, 10)
	for n := range stored {
		require.Equal(t, given[len(given)-1-n], stored[n].Labels[meta.LabelRevision])
	}
	parts, err := source.RevisionParts(t.Context(), livelist.New(world.Client), options.Namespace, stored[0].OwnerReferences[0].UID)
	require.NoError(t, err)
	require.Len(t, parts, len(stored)+1, "the values of each, and the operator's own templates")

	require.NoError(t, world.Client.Delete(t.Context(), installation))
	harness.Eventually(t, "the deletion with the installation", func() bool { return len(storedRevisions(t)) == 0 })
}

// A template set is invalid, and the leader changes. The new leader uses the stored last known good version.
func TestTemplateSet_KeepsLastKnownGoodAcrossLeaders(t *testing.T) {
	installation := wavesOf(t, "1s", "")
	set := templateSet("own", "NOTES.txt", "own")
	addTemplateSet(t, set)
	harness.Change(t, world, installation, func(c *corev1.ConfigMap) {
		c.Data["development.yaml"] = "templateSet: own\nsidecar: {logLevel: info}"
	})
	one := newInWave(t, "other")
	harness.Until(t, world, one.app, "its sidecar", func(d *appsv1.Deployment) bool { return logLevel(d) == "info" })
	one.until(t, v1alpha1.RolloutComplete, "")
	revision := one.vs.Status.Rollout.Revision
	harness.Change(t, world, set, func(c *corev1.ConfigMap) { c.Data = map[string]string{"_x.tpl": definedTwice} })
	restart(t)
	added := objects.NewDeployment("added", one.vs.Namespace).Labeled("logs", "vector").Build()
	world.Create(t, added)
	harness.Until(t, world, added, "the sidecar", func(d *appsv1.Deployment) bool { return logLevel(d) == "info" })
	world.Get(t, one.vs)
	require.Equal(t, revision, one.vs.Status.Rollout.Revision)
	harness.Until(t, world, one.vs, "the set's error", func(vs *v1alpha1.VectorSidecar) bool {
		return strings.Contains(message(vs, meta.ConditionConfigValid), "the last known good version stays in use")
	})
}
