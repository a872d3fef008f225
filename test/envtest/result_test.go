// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// The counts and states in the status are those of the workloads. The cases include denied writes, conflicts, pauses
// and opt-outs.
func TestVectorSidecarStatus_EqualsWorkloads(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	build := func(name string) *objects.Deployment {
		return objects.NewDeployment(name, namespace).Labeled("logs", "vector")
	}
	deployments := []*appsv1.Deployment{
		build("empty").WithReplicas(0).Build(), build("good").Build(), build("other").Build(), build("paused").Paused().Build(),
		build("opted-out").Annotated(meta.AnnotationInject, "false").Build(), build("taken").WithContainer("vector").Build(),
	}
	for _, deployment := range deployments {
		world.Create(t, deployment)
	}
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithSoak(-1).WithEnv("FIRST", "1").Build()
	world.Create(t, vs)
	// compare compares the status with the Deployments, when they have some states.
	compare := func(want map[string]v1alpha1.WorkloadState) {
		t.Helper()
		states := func(vs *v1alpha1.VectorSidecar) map[string]v1alpha1.WorkloadState {
			states := map[string]v1alpha1.WorkloadState{}
			for _, entry := range vs.Status.Workloads {
				states[entry.Name] = entry.State
			}
			return states
		}
		harness.Until(t, world, vs, "the expected states", func(vs *v1alpha1.VectorSidecar) bool {
			is := states(vs)
			for name, state := range want {
				if is[name] != state {
					return false
				}
			}
			return len(is) == len(want) && vs.Status.ObservedGeneration == vs.Generation
		})
		var live appsv1.DeploymentList
		require.NoError(t, world.Client.List(t.Context(), &live, client.InNamespace(namespace), client.MatchingLabels{"logs": "vector"}))
		injected, ready := int32(0), int32(0)
		for i := range live.Items {
			deployment := &live.Items[i]
			hash := deployment.Annotations[meta.AnnotationInjectedHash]
			if isInjected(deployment) && hash != "" && hash == vs.Status.InjectedHash {
				injected++
				if isRolledOut(deployment) && *deployment.Spec.Replicas > 0 {
					ready++
				}
			}
		}
		require.EqualValues(t, len(live.Items), vs.Status.MatchedWorkloads)
		require.Equal(t, injected, vs.Status.InjectedWorkloads)
		require.Equal(t, ready, vs.Status.ReadyWorkloads)
		require.Equal(t, injected, vs.Status.Kinds[0].Injected)
		require.Equal(t, ready, vs.Status.Kinds[0].Ready)
	}
	kept := map[string]v1alpha1.WorkloadState{
		"empty": v1alpha1.StateWithoutPods, "paused": v1alpha1.StateSkipped, "opted-out": v1alpha1.StateSkipped, "taken": v1alpha1.StateConflict,
	}
	compare(kept)

	allow := deny(t, deployments[1], metav1.StatusReasonForbidden)
	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) {
		vs.Spec.Sidecar.Env = append(vs.Spec.Sidecar.Env, corev1.EnvVar{Name: "SECOND", Value: "2"})
	})
	denied := map[string]v1alpha1.WorkloadState{
		"empty": v1alpha1.StateRejected, "good": v1alpha1.StateRejected, "other": v1alpha1.StateRejected,
		"paused": v1alpha1.StateSkipped, "opted-out": v1alpha1.StateSkipped, "taken": v1alpha1.StateConflict,
	}
	compare(denied)
	require.Zero(t, vs.Status.InjectedWorkloads, "all have the sidecar of before")
	allow()
	compare(kept)
}
