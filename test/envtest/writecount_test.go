// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// Another writer changes or deletes a workload before the operator's write, so that the write is rejected. The status
// counts the sidecar only when the workload has it.
func TestVectorSidecarStatus_CountsOnlyWrittenWorkloads(t *testing.T) {
	for name, test := range map[string]struct {
		// between is another writer's change of the workload right before a write of the operator.
		between func(ctx context.Context, deployment *appsv1.Deployment) error
		// matched is the number of workloads during that change, and state is the state of the workload, "" if it
		// is deleted.
		matched int32
		state   v1alpha1.WorkloadState
	}{
		"changed": {
			between: func(ctx context.Context, deployment *appsv1.Deployment) error {
				before := deployment.DeepCopy()
				deployment.Spec.Template.Spec.InitContainers = []corev1.Container{{Name: "vector", Image: "example.com/other:1"}}
				return world.Client.Patch(ctx, deployment, client.StrategicMergeFrom(before), client.FieldOwner("another"))
			},
			matched: 2, state: v1alpha1.StateConflict,
		},
		"deleted": {
			between: func(ctx context.Context, deployment *appsv1.Deployment) error {
				return client.IgnoreNotFound(world.Client.Delete(ctx, deployment))
			},
			matched: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			namespace := world.Namespace(t)
			good, bad := labeled("good", namespace), labeled("bad", namespace)
			way := &harness.Interruption{
				Path: "/namespaces/" + namespace + "/deployments/bad",
				Do: func(ctx context.Context) error {
					live := &appsv1.Deployment{}
					if err := world.Client.Get(ctx, client.ObjectKeyFromObject(bad), live); err != nil {
						return client.IgnoreNotFound(err)
					}
					return test.between(ctx, live)
				},
			}
			way.IsOn.Store(true)
			world.RunThrough(t, &running, options, way)
			vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithSoak(-1).Build()
			world.Create(t, good, bad, vs)

			// isCounted reports whether the counts of the status are these.
			isCounted := func(vs *v1alpha1.VectorSidecar, matched, injected int32) bool {
				status := &vs.Status
				return status.MatchedWorkloads == matched && status.InjectedWorkloads == injected && status.InjectedDeployments == injected &&
					status.ReadyWorkloads == injected && len(status.Kinds) == 1 && status.Kinds[0].Injected == injected && status.Kinds[0].Ready == injected
			}
			harness.Until(t, world, vs, "only the sidecar of the other workload", func(vs *v1alpha1.VectorSidecar) bool {
				require.LessOrEqual(t, vs.Status.InjectedWorkloads, int32(1), "the workload has no sidecar: %v", way.Codes())
				state := v1alpha1.WorkloadState("")
				for _, entry := range vs.Status.Workloads {
					if entry.Name == bad.Name {
						state = entry.State
					}
				}
				return isCounted(vs, test.matched, 1) && state == test.state
			})
			require.Equal(t, []int{http.StatusConflict}, way.Codes(), "the API server has rejected all writes")
			if test.state == "" {
				return
			}
			world.Get(t, bad)
			require.Empty(t, bad.Annotations[meta.AnnotationInjectedHash])

			way.IsOn.Store(false)
			harness.Change(t, world, bad, func(d *appsv1.Deployment) { d.Spec.Template.Spec.InitContainers = nil })
			harness.Until(t, world, vs, "both sidecars", func(vs *v1alpha1.VectorSidecar) bool { return isCounted(vs, 2, 2) })
			world.Get(t, bad)
			require.True(t, isInjected(bad))
		})
	}
}
