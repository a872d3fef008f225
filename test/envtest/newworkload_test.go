// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

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

// countPods counts the pods of a namespace that are created and that start, from its call.
func countPods(t *testing.T, namespace string) (count func() (made, running int)) {
	t.Helper()
	var mu sync.Mutex
	hasRun := map[types.UID]bool{}
	world.Watch(t, &corev1.PodList{}, func(object client.Object) {
		if pod, ok := object.(*corev1.Pod); ok {
			mu.Lock()
			hasRun[pod.UID] = hasRun[pod.UID] || pod.Status.Phase == corev1.PodRunning
			mu.Unlock()
		}
	}, client.InNamespace(namespace))
	return func() (made, running int) {
		mu.Lock()
		defer mu.Unlock()
		for _, ran := range hasRun {
			made++
			if ran {
				running++
			}
		}
		return made, running
	}
}

// A new workload gets the sidecar at once, while its first ReplicaSet is still starting. A wait for that rollout would
// start more pods: in a measurement, 64 instead of 52.
func TestVectorSidecar_InjectsNewWorkloadImmediately(t *testing.T) {
	t.Parallel()
	const workloads, replicas = 4, 8 // Their pods take a second to start.
	started := map[string]int{}
	for name, settleFirst := range map[string]bool{"at once": false, "settled first": true} {
		namespace := world.Namespace(t)
		vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithMaxConcurrent("100%").Build()
		world.Create(t, vs)
		harness.Until(t, world, vs, "a first status", isReady)
		count := countPods(t, namespace)
		var deployments []*appsv1.Deployment
		for i := range workloads {
			builder := objects.NewDeployment(fmt.Sprintf("app-%d", i), namespace).WithReplicas(replicas).PodAnnotated("starts-after", "1s")
			if !settleFirst {
				builder.Labeled("logs", "vector")
			}
			deployments = append(deployments, builder.Build())
			world.Create(t, deployments[i])
		}
		for _, deployment := range deployments {
			if settleFirst {
				harness.Until(t, world, deployment, "its first rollout", isRolledOut)
				harness.Change(t, world, deployment, func(d *appsv1.Deployment) { d.Labels = map[string]string{"logs": "vector"} })
			}
		}
		harness.Until(t, world, vs, "readiness", func(vs *v1alpha1.VectorSidecar) bool {
			return isReady(vs) && vs.Status.Total().Ready == workloads
		})
		least := workloads * replicas
		if settleFirst {
			least *= 2 // with a sidecar and, before that, without
		}
		harness.Eventually(t, "a current watch", func() bool {
			_, running := count()
			return running >= least
		})
		made, running := count()
		t.Logf("%s: %d pods made and %d run for %d workloads of %d replicas", name, made, running, workloads, replicas)
		started[name] = running
	}
	require.LessOrEqual(t, started["at once"], started["settled first"])
}
