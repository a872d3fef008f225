// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package injection

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// countPods returns a function that counts the pods created in a namespace after the call of countPods.
func countPods(t *testing.T, namespace string) func() int {
	t.Helper()
	var before corev1.PodList
	require.NoError(t, world.Client.List(t.Context(), &before, client.InNamespace(namespace)))
	var mu sync.Mutex
	seen := map[types.UID]bool{}
	world.Watch(t, &corev1.PodList{}, func(pod client.Object) {
		mu.Lock()
		defer mu.Unlock()
		seen[pod.GetUID()] = true
	}, client.InNamespace(namespace))
	return func() int {
		mu.Lock()
		defer mu.Unlock()
		for i := range before.Items {
			delete(seen, before.Items[i].UID)
		}
		return len(seen)
	}
}

// If the API server injects the sidecar, each new workload has one ReplicaSet and starts each of its eight pods once.
func TestOverlaySet_StartsPodsOfNewWorkloadsOnce(t *testing.T) {
	t.Parallel()
	const workloads, replicas = 4, 8
	for name, test := range map[string]struct {
		sidecar func(namespace string) *objects.VectorSidecar
		// first is true if the operator needs an existing workload to find the volume with the logs.
		first bool
	}{
		"metrics alone": {sidecar: func(namespace string) *objects.VectorSidecar {
			return objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector")
		}},
		"otlp": {sidecar: func(namespace string) *objects.VectorSidecar { return otlp("logs", namespace) }},
		"logs on the application's volume": {first: true, sidecar: func(namespace string) *objects.VectorSidecar {
			return objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithLogs("/var/log/app")
		}},
		"production": {sidecar: func(namespace string) *objects.VectorSidecar {
			return objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").InEnvironment("production")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := world.Namespace(t)
			vs := test.sidecar(namespace).WithMaxConcurrent("100%").Build()
			world.Create(t, vs)
			one := func(name string) *appsv1.Deployment {
				return objects.NewDeployment(name, namespace).Labeled("logs", "vector").WithReplicas(replicas).
					WithInitContainer("migrate").WithEmptyDir("logs", "/var/log/app").PodAnnotated("starts-after", "1s").Build()
			}
			if test.first {
				require.Contains(t, awaitSkipReason(t, vs), "no workload with the sidecar mounts a volume")
				first := one("first")
				world.Create(t, first)
				harness.Until(t, world, first, "the sidecar in all of its pods", func(d *appsv1.Deployment) bool {
					return isAdopted("logs")(d) && d.Status.ObservedGeneration == d.Generation && d.Status.AvailableReplicas == replicas &&
						d.Status.UpdatedReplicas == replicas && d.Status.Replicas == replicas && d.Status.TerminatingReplicas != nil && *d.Status.TerminatingReplicas == 0
				})
			}
			awaitOverlay(t, vs)
			container := vs.Spec.Sidecar
			sidecar := "vector"
			if container != nil && container.Name != "" {
				sidecar = container.Name
			}
			untilActive(t, one("any"), sidecar)
			before := revisions(t, namespace)
			made := countPods(t, namespace)
			var all []*appsv1.Deployment
			for i := range workloads {
				all = append(all, one(fmt.Sprintf("app-%d", i)))
				world.Create(t, all[i])
				require.Equal(t, []string{sidecar, "migrate", "app"}, names(all[i]))
			}
			for _, deployment := range all {
				harness.Until(t, world, deployment, "the adoption by the operator", func(d *appsv1.Deployment) bool { return isAdopted("logs")(d) })
				harness.Until(t, world, deployment, "its pods", func(d *appsv1.Deployment) bool {
					return d.Status.ObservedGeneration == d.Generation && d.Status.AvailableReplicas == replicas && d.Status.Replicas == replicas
				})
			}
			harness.Until(t, world, vs, "readiness", func(vs *v1alpha1.VectorSidecar) bool {
				return vs.Status.Total().Ready >= workloads && vs.Status.InjectedDeployments == vs.Status.MatchedDeployments
			})
			t.Logf("%s: %d ReplicaSets and %d pods for %d workloads of %d replicas", name, revisions(t, namespace)-before, made(), workloads, replicas)
			require.Equal(t, workloads, revisions(t, namespace)-before)
			require.Equal(t, workloads*replicas, made())
		})
	}
}
