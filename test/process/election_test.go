// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"

	"kontroloop.ai/vector-sidecar-operator/internal/operator"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

// leaseName creates a released Lease with a unique name, so that the first leader does not wait.
func leaseName(t *testing.T) string {
	t.Helper()
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: own, GenerateName: "given-up-"}}
	world.Create(t, lease)
	return lease.Name
}

// three starts three operators with one Lease. It returns the leader, and the others when their caches are synced.
func three(t *testing.T, arguments ...string) (leader *harness.Process, others []*harness.Process) {
	t.Helper()
	arguments = append(arguments, "--leader-elect", "--leader-election-id="+leaseName(t))
	for range 3 {
		others = append(others, start(t, harness.Settings{Arguments: arguments}))
	}
	harness.Eventually(t, "a leader", func() bool {
		for i, p := range others {
			if leads(t, p) {
				leader, others = p, append(others[:i:i], others[i+1:]...)
				return true
			}
		}
		return false
	})
	for _, p := range others {
		harness.Eventually(t, "the other operators on standby", func() bool { return len(p.Said(t, "standing by")) > 0 })
	}
	for _, p := range append(others, leader) {
		harness.Eventually(t, "the caches to be filled", func() bool { return get(t, p.Health, "/readyz") == 200 })
	}
	return leader, others
}

func leads(t *testing.T, p *harness.Process) bool {
	return len(p.Said(t, "Successfully acquired lease")) > 0
}

func TestOperator_TakesOverFromKilledLeader(t *testing.T) {
	const lease = 5 * time.Second
	leader, others := three(t, "--leader-election-lease-duration=5s", "--leader-election-renew-deadline=3s", "--leader-election-retry-period=1s")
	namespace := world.Namespace(t)
	cart, shop := labeled(t, "cart", namespace), labeled(t, "shop", namespace)
	sidecar(t, namespace)
	harness.Until(t, world, cart, "the sidecar", isInjected)
	harness.Until(t, world, shop, "the sidecar", isInjected)
	ofCart, ofShop := cart.Generation, shop.Generation

	leader.Signal(t, syscall.SIGKILL)
	killed := time.Now()
	<-leader.Ended()
	late := labeled(t, "late", namespace)
	harness.Until(t, world, late, "the sidecar, from another operator", isInjected)
	took := time.Since(killed)

	t.Logf("another operator wrote after %s", took)
	require.Less(t, took, 2*lease)
	require.NotEqual(t, leads(t, others[0]), leads(t, others[1]), "exactly one of the others leads")
	world.Get(t, cart)
	world.Get(t, shop)
	require.Equal(t, ofCart, cart.Generation, "no rollout")
	require.Equal(t, ofShop, shop.Generation, "no rollout")
}

// The leader is stopped and releases its Lease. Another replica, which reads the Lease every 2 to 4.4 seconds, leads
// before the Lease would expire.
func TestProcess_LeadsBeforeLeaseExpires(t *testing.T) {
	leader, others := three(t) // With the defaults: 15, 10 and 2 seconds.
	namespace := world.Namespace(t)
	cart := labeled(t, "cart", namespace)
	sidecar(t, namespace)
	harness.Until(t, world, cart, "the sidecar", isInjected)
	before := cart.Generation

	signaled := time.Now()
	leader.Signal(t, syscall.SIGTERM)
	late := labeled(t, "late", namespace)
	harness.Until(t, world, late, "the sidecar", isInjected)
	harness.Eventually(t, "another leader", func() bool { return leads(t, others[0]) || leads(t, others[1]) })
	took := time.Since(signaled)

	t.Logf("another operator led after %s", took)
	require.Less(t, took, 10*time.Second, "nobody waits for the end of the Lease, 15 s after it was renewed")
	require.Zero(t, leader.ExitCode())
	noErrors(t, leader)
	world.Get(t, cart)
	require.Equal(t, before, cart.Generation, "no rollout")
	for _, p := range others {
		p.Signal(t, syscall.SIGTERM)
		require.Zero(t, p.ExitCode(), "one that stands by stops as orderly")
		noErrors(t, p)
	}
}

// The operator is stopped while its first write of the Lease is not answered. It still releases the Lease, so that the
// next operator does not wait until it expires.
func TestOperator_ReleasesLeaseWhenStoppedEarly(t *testing.T) {
	for name, given := range map[string]bool{"one that it creates": false, "one that somebody gave up": true} {
		t.Run(name, func(t *testing.T) {
			lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: own, Name: "taken-" + rand.String(5)}}
			if given {
				world.Create(t, lease.DeepCopy())
			}
			slow := slowAnswer{path: "/leases", after: 2 * time.Second, written: make(chan struct{})}
			running := through(slow.hold).StartOperator(t, operator.Options{
				Namespace: own, WatchNamespaces: []string{world.Namespace(t)}, LeaderElect: true, LeaderElectionID: lease.Name,
			})

			<-slow.written
			require.NoError(t, running.Stop())

			world.Get(t, lease)
			require.Empty(t, *lease.Spec.HolderIdentity)
		})
	}
}

// The leader is frozen, and another replica leads. When the first one continues, it does not write and exits with an
// error.
func TestOperator_ExitsAfterFreeze(t *testing.T) {
	leader, others := three(t, "--leader-election-lease-duration=3s", "--leader-election-renew-deadline=2s", "--leader-election-retry-period=500ms")
	leader.Signal(t, syscall.SIGSTOP)
	harness.Eventually(t, "another leader", func() bool { return leads(t, others[0]) || leads(t, others[1]) })
	namespace := world.Namespace(t)
	var deployments []*appsv1.Deployment
	for i := range 3 {
		deployments = append(deployments, labeled(t, fmt.Sprintf("app-%d", i), namespace))
	}
	sidecar(t, namespace)
	for _, d := range deployments {
		harness.Until(t, world, d, "the sidecar", isInjected)
	}

	leader.Signal(t, syscall.SIGCONT)

	require.Equal(t, 1, leader.ExitCode(), "it ends, and its pod starts anew")
	require.Empty(t, leader.Said(t, "wrote workload"))
}
