// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/operator"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// byDefault leaves spec.rollout.soak unset.
const byDefault = -1

// dies is the image of a sidecar that exits 2 s after its pod became ready, at each start.
const dies = "registry.example/vector:dies"

// injectedOf returns the number of Deployments in a namespace that have the sidecar.
func injectedOf(t *testing.T, namespace string) int {
	t.Helper()
	var all appsv1.DeploymentList
	require.NoError(t, world.Client.List(t.Context(), &all, client.InNamespace(namespace)))
	count := 0
	for i := range all.Items {
		if isInjected(&all.Items[i]) {
			count++
		}
	}
	return count
}

// The sidecar dies after its rollout in each workload. Only as many workloads as rollout slots get it.
func TestSoak_LimitsFailedWorkloadsToMaxConcurrent(t *testing.T) {
	t.Parallel()
	const size, budget = 16, 5
	namespace := world.Namespace(t)
	for _, deployment := range fleet(t, namespace, size, asIs) {
		harness.Until(t, world, deployment, "its first rollout", isRolledOut)
	}
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithImage(dies).WithSoak(byDefault).Build()
	world.Create(t, vs)

	harness.Until(t, world, vs, "the budget used by failures", func(vs *v1alpha1.VectorSidecar) bool {
		return vs.Status.Total().Failed == budget
	})

	require.Equal(t, budget, injectedOf(t, namespace))
	require.Contains(t, message(vs, meta.ConditionReady), "RolloutFailed: 5 of 16 Deployments did not finish rolling out")
}

// Without permission to read pods, a failing sidecar shows only in times. It keeps its rollout slot through a restart,
// although the Deployments look finished.
func TestSoak_KeepsSlotOfFailingSidecarAcrossRestart(t *testing.T) {
	const size, budget = 6, 2
	blind := options
	blind.ReadPods = false
	require.NoError(t, running.Stop())
	t.Cleanup(func() {
		require.NoError(t, running.Stop())
		running = world.RunOperator(options)
	})
	running = world.RunOperator(blind)
	namespace := world.Namespace(t)
	deployments := fleet(t, namespace, size, asIs)
	for _, deployment := range deployments {
		harness.Until(t, world, deployment, "its first rollout", isRolledOut)
	}
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithImage(dies).WithMaxConcurrent("2").WithSoak(4 * time.Second).Build()
	world.Create(t, vs)
	harness.Until(t, world, vs, "the first lost pods", func(vs *v1alpha1.VectorSidecar) bool {
		lost := slices.DeleteFunc(slices.Clone(vs.Status.Workloads), func(u v1alpha1.WorkloadStatus) bool { return u.Reason != meta.ReasonUnavailable })
		return len(lost) == budget
	})
	require.Contains(t, message(vs, meta.ConditionReady), "Soaking: 2 of 6 Deployments are soaking after their rollout")
	require.Equal(t, v1alpha1.StateSoaking, vs.Status.Workloads[0].State)
	require.Contains(t, vs.Status.Workloads[0].Message, "pods are not read (rbac.optional.pods)")

	for _, deployment := range deployments[:budget] {
		harness.Until(t, world, deployment, "its pods again", isRolledOut)
	}
	require.NoError(t, running.Stop())
	running = world.RunOperator(blind)
	// The new operator watches both Deployments become unavailable and available again.
	comeAndGo(t, deployments[:budget], 2)
	require.Equal(t, budget, injectedOf(t, namespace))
	require.Empty(t, running.Requests.Reads("/namespaces/"+namespace+"/pods"))
}

// comeAndGo waits until some Deployments have all lost their pods and got them again, a number of times. They do so
// concurrently.
func comeAndGo(t *testing.T, deployments []*appsv1.Deployment, times int) {
	t.Helper()
	changes := make([]int, len(deployments)) // An odd one is a loss.
	harness.Eventually(t, "the loss and return of the pods", func() bool {
		for i, deployment := range deployments {
			world.Get(t, deployment)
			if isLost := changes[i]%2 == 1; isLost == isRolledOut(deployment) {
				changes[i]++
			}
		}
		return slices.Min(changes) >= 2*times
	})
}

// The clock of the operator is an hour wrong. Soaks take the right time, because the operator uses times of the API
// server and its controllers.
func TestSoak_UsesClockOfAPIServer(t *testing.T) {
	require.NoError(t, running.Stop())
	t.Cleanup(func() { running = world.RunOperator(options) })
	for _, apart := range []time.Duration{-time.Hour, time.Hour} {
		t.Run(apart.String(), func(t *testing.T) {
			world.StartObserved(t, options, operator.Process{Version: world.Version, Now: func() time.Time { return time.Now().Add(apart) }})
			requireSoaks(t, 2, "")
		})
	}
}

// The next workload rolls out only after the soak of the one before.
func TestSoak_DelaysNextRollout(t *testing.T) {
	t.Parallel()
	requireSoaks(t, 3, "soaking")
}

// requireSoaks rolls out a sidecar to one Deployment after another, and requires that each one starts after the
// previous one has soaked. The first soak must have the status of a recording, if one is named. The times are of the API
// server and the Deployment controller, in whole seconds.
func requireSoaks(t *testing.T, size int, recording string) {
	t.Helper()
	const soak = 3 * time.Second
	namespace := world.Namespace(t)
	deployments := fleet(t, namespace, size, asIs)
	for _, deployment := range deployments {
		harness.Until(t, world, deployment, "its first rollout", isRolledOut)
	}
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithMaxConcurrent("1").WithSoak(soak).Build()
	world.Create(t, vs)
	harness.Until(t, world, vs, "a soak", func(vs *v1alpha1.VectorSidecar) bool {
		return len(vs.Status.Workloads) > 0 && vs.Status.Workloads[0].State == v1alpha1.StateSoaking
	})
	require.False(t, isReady(vs))
	if recording != "" {
		requireRecorded(t, recording, vs, "Reconciling=True Soaking")
	}
	harness.Until(t, world, vs, "the update of all workloads", func(vs *v1alpha1.VectorSidecar) bool {
		return isReady(vs) && int(vs.Status.Total().Ready) == size
	})

	for i := range deployments {
		world.Get(t, deployments[i])
		if i == 0 {
			continue
		}
		gap := writtenAt(t, deployments[i]).Sub(rolledOutAt(t, deployments[i-1]))
		t.Logf("%s was written %s after the rollout of the one before", deployments[i].Name, gap)
		require.GreaterOrEqual(t, gap, soak-time.Second)
	}
	ready := slices.IndexFunc(vs.Status.Conditions, func(c metav1.Condition) bool { return c.Type == meta.ConditionReady })
	require.GreaterOrEqual(t, vs.Status.Conditions[ready].LastTransitionTime.Sub(rolledOutAt(t, deployments[size-1])), soak-time.Second)

	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) {
		vs.Spec.Enabled, vs.Spec.Rollout.Soak = new(bool), &metav1.Duration{Duration: time.Hour}
	})
	harness.Until(t, world, vs, "removal, which needs no soak", func(vs *v1alpha1.VectorSidecar) bool {
		return isReady(vs) && vs.Status.InjectedDeployments == 0
	})
}

// writtenAt returns when the operator last changed a Deployment.
func writtenAt(t *testing.T, d *appsv1.Deployment) time.Time {
	t.Helper()
	for i := range d.ManagedFields {
		if meta.IsManager(d.ManagedFields[i].Manager) {
			return d.ManagedFields[i].Time.Time
		}
	}
	require.Fail(t, "nothing of the operator's", d.Name)
	return time.Time{}
}

// rolledOutAt returns when the last rollout of a Deployment finished.
func rolledOutAt(t *testing.T, d *appsv1.Deployment) time.Time {
	t.Helper()
	for _, condition := range d.Status.Conditions {
		if condition.Type == appsv1.DeploymentProgressing {
			require.Equal(t, "NewReplicaSetAvailable", condition.Reason)
			return condition.LastUpdateTime.Time
		}
	}
	require.Fail(t, "no word of its rollout", d.Name)
	return time.Time{}
}
