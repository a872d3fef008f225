// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"maps"
	"slices"
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

// hasEnv reports whether the sidecar of a Deployment has a variable.
func hasEnv(deployment *appsv1.Deployment, name string) bool {
	return slices.ContainsFunc(deployment.Spec.Template.Spec.InitContainers, func(c corev1.Container) bool {
		return c.Name == "vector" && slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == name })
	})
}

// The counts and states in the status are those of the objects in the namespaces. The cases include denied writes,
// conflicts, pauses and opt-outs.
func TestClusterVectorSidecarStatus_EqualsObjectsInNamespaces(t *testing.T) {
	t.Parallel()
	cluster := clusterOf(t)
	cluster.Spec.Sidecar = &v1alpha1.SidecarSpec{Env: []corev1.EnvVar{{Name: "FIRST", Value: "1"}}}
	good, withoutPods, mixed, left := world.Namespace(t, "team", cluster.Name), world.Namespace(t, "team", cluster.Name), world.Namespace(t, "team", cluster.Name), world.Namespace(t)
	build := func(name, namespace string) *objects.Deployment {
		return objects.NewDeployment(name, namespace).Labeled("logs", "vector")
	}
	frozen := build("good", good).Build()
	world.Create(t, frozen, build("other", good).Build(), build("opted-out", good).Annotated(meta.AnnotationInject, "false").Build(),
		build("empty", withoutPods).WithReplicas(0).Build(), build("good", mixed).Build(), build("paused", mixed).Paused().Build(), build("taken", mixed).WithContainer("vector").Build(),
		build("elsewhere", left).Build(), cluster)

	// compare waits for some states, and compares the status with the Deployments. The current sidecar sets
	// variable.
	compare := func(variable string, want map[string]v1alpha1.WorkloadState) {
		t.Helper()
		harness.Until(t, world, cluster, "the expected states", func(cluster *v1alpha1.ClusterVectorSidecar) bool {
			states := map[string]v1alpha1.WorkloadState{}
			for _, entry := range cluster.Status.Workloads {
				states[entry.Namespace+"/"+entry.Name] = v1alpha1.WorkloadState(entry.State)
			}
			return maps.Equal(states, want) && cluster.Status.ObservedGeneration == cluster.Generation
		})
		var namespaces corev1.NamespaceList
		require.NoError(t, world.Client.List(t.Context(), &namespaces, client.MatchingLabels{"team": cluster.Name}))
		matched, injected, ready, podless, readyNamespaces, podlessNamespaces := 0, 0, 0, 0, 0, 0
		for _, namespace := range namespaces.Items {
			var live appsv1.DeploymentList
			require.NoError(t, world.Client.List(t.Context(), &live, client.InNamespace(namespace.Name), client.MatchingLabels{"logs": "vector"}))
			readyHere, podlessHere, isBad := 0, 0, false
			for i := range live.Items {
				deployment := &live.Items[i]
				matched++
				switch state := want[namespace.Name+"/"+deployment.Name]; {
				case isInjected(deployment) && hasEnv(deployment, variable):
					injected++
					if *deployment.Spec.Replicas == 0 {
						podlessHere++
					} else if isRolledOut(deployment) {
						readyHere++
					}
				case state != v1alpha1.StateSkipped:
					isBad = true
				}
			}
			ready, podless = ready+readyHere, podless+podlessHere
			switch {
			case isBad:
			case readyHere > 0:
				readyNamespaces++
			default:
				podlessNamespaces++
			}
		}
		status := cluster.Status
		require.EqualValues(t, len(namespaces.Items), status.SelectedNamespaces)
		require.EqualValues(t, readyNamespaces, status.ReadyNamespaces, "ready namespaces")
		require.EqualValues(t, podlessNamespaces, status.NamespacesWithoutPods, "namespaces without pods")
		require.EqualValues(t, matched, status.MatchedWorkloads)
		require.EqualValues(t, injected, status.InjectedWorkloads)
		require.EqualValues(t, ready, status.ReadyWorkloads)
		require.EqualValues(t, podless, status.WorkloadsWithoutPods)
		require.Len(t, status.Kinds, 1)
		require.EqualValues(t, matched, status.Kinds[0].Matched)
		require.EqualValues(t, injected, status.Kinds[0].Injected)
		require.EqualValues(t, ready, status.Kinds[0].Ready)
	}
	kept := map[string]v1alpha1.WorkloadState{
		good + "/opted-out": v1alpha1.StateSkipped, withoutPods + "/empty": v1alpha1.StateWithoutPods,
		mixed + "/paused": v1alpha1.StateSkipped, mixed + "/taken": v1alpha1.StateConflict,
	}
	compare("FIRST", kept)

	allow := deny(t, frozen, metav1.StatusReasonForbidden)
	harness.Change(t, world, cluster, func(cluster *v1alpha1.ClusterVectorSidecar) {
		cluster.Spec.Sidecar.Env = append(cluster.Spec.Sidecar.Env, corev1.EnvVar{Name: "SECOND", Value: "2"})
	})
	denied := maps.Clone(kept)
	denied[good+"/good"], denied[good+"/other"] = v1alpha1.StateRejected, v1alpha1.StateRejected
	compare("SECOND", denied)
	require.EqualValues(t, 2, cluster.Status.InjectedWorkloads, "the denied ones have the sidecar of before")
	allow()
	compare("SECOND", kept)
}
