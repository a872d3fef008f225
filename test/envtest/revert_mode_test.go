// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

// A deferred change fails in the first workloads. The operator reverts these at once, without an approval or a rollout
// of the application. Other workloads stay unchanged.
func TestRolloutMode_RevertsWithoutWaiting(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		mode v1alpha1.RolloutMode
		// goes makes the change reach app-00 and app-01.
		goes func(*testing.T, []*appsv1.Deployment, *v1alpha1.VectorSidecar)
	}{
		"with the owner's rollout": {v1alpha1.ModeOnAppRollout, func(t *testing.T, apps []*appsv1.Deployment, _ *v1alpha1.VectorSidecar) {
			t.Helper()
			// The pods are never scheduled, so they have not failed when the pods of app-00 do.
			harness.Change(t, world, apps[1], func(d *appsv1.Deployment) { d.Spec.Template.Spec.NodeSelector = map[string]string{"disk": "none"} })
			harness.Until(t, world, apps[1], "the change", func(d *appsv1.Deployment) bool { return logLevel(d) == "warn" })
			run(t, apps[0].Namespace, "kubectl", "rollout", "restart", "deployment/"+apps[0].Name)
		}},
		"by hand": {v1alpha1.ModeManual, func(t *testing.T, _ []*appsv1.Deployment, vs *v1alpha1.VectorSidecar) {
			t.Helper()
			harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) {
				metav1.SetMetaDataAnnotation(&vs.ObjectMeta, meta.AnnotationPromoteRollout, vs.Status.Deferred.Change)
			})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			apps, vs := goingBack(t, 4, v1alpha1.OnFailureRevert)
			seen := watchLevels(t, vs.Namespace)
			harness.Eventually(t, "the watch", func() bool { return seen.of("info") == 4 })
			rolledOut := map[string]int{}
			for _, app := range apps[2:] {
				rolledOut[app.Name] = revisionsOf(t, app)
			}
			harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) {
				crash(vs)
				vs.Spec.Rollout.Mode = test.mode
			})
			harness.Until(t, world, vs, "the waiting change", deferring(4))
			test.goes(t, apps, vs)
			harness.Until(t, world, vs, "reason Reverted", func(vs *v1alpha1.VectorSidecar) bool { return vs.Status.Reverted != nil })
			for _, app := range apps[:2] {
				harness.Until(t, world, app, "the last known good sidecar", func(d *appsv1.Deployment) bool { return logLevel(d) == "info" })
			}
			require.Equal(t, 2, seen.of("warn"), "no more than maxConcurrent have had it")
			harness.Change(t, world, apps[1], func(d *appsv1.Deployment) { d.Spec.Template.Spec.NodeSelector = nil })
			harness.Until(t, world, vs, "the return of all", func(vs *v1alpha1.VectorSidecar) bool {
				return isSpecReverted(vs) && vs.Status.Total().Ready == 4 && vs.Status.Deferred == nil
			})
			require.Contains(t, message(vs, meta.ConditionReady), "4 of 4 Deployments run the current sidecar")
			for _, app := range apps[2:] {
				harness.Until(t, world, app, "no recorded wait", func(d *appsv1.Deployment) bool { return waitRecord(d) == "" })
				require.Equal(t, rolledOut[app.Name], revisionsOf(t, app))
			}
			harness.Eventually(t, "an event", func() bool { return eventsOf(t, vs, meta.ReasonReverted) == 1 })
		})
	}
}
