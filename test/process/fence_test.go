// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

// audit records which operator wrote to Deployments, and when.
type audit struct {
	mu     sync.Mutex
	writes map[string][]span
}

// span has the times when a write was sent and answered.
type span struct{ began, ended time.Time }

// of returns the transport of one operator and delays its writes.
func (a *audit) of(who string, slow time.Duration) func(roundTripper) roundTripper {
	return func(next roundTripper) roundTripper {
		return func(request *http.Request) (*http.Response, error) {
			if request.Method != http.MethodPatch || !strings.Contains(request.URL.Path, "/deployments/") {
				return next(request)
			}
			<-time.After(slow)
			began := time.Now()
			response, err := next(request)
			a.mu.Lock()
			defer a.mu.Unlock()
			a.writes[who] = append(a.writes[who], span{began, time.Now()})
			return response, err
		}
	}
}

func (a *audit) count(who string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.writes[who])
}

// late counts the writes of the first operator that were answered after the first write of the second one started.
func (a *audit) late(before, after string) (count int, pause time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	first, last := a.writes[after][0].began, time.Time{}
	for _, write := range a.writes[before] {
		if write.ended.After(first) {
			count++
		}
		if write.ended.After(last) {
			last = write.ended
		}
	}
	return count, first.Sub(last)
}

const waiting = "waiting before the first write: the lease was not released, so its previous holder may still write"

// A user deletes the Lease or removes its holder. The next leader waits until the previous one has stopped writing.
func TestFence_PreventsTwoWritersAfterLeaseDeletion(t *testing.T) {
	for name, take := range map[string]func(*testing.T, *coordinationv1.Lease){
		"deleted": func(t *testing.T, lease *coordinationv1.Lease) { world.Delete(t, lease) },
		"without a holder": func(t *testing.T, lease *coordinationv1.Lease) {
			harness.Change(t, world, lease, func(l *coordinationv1.Lease) { l.Spec.HolderIdentity = nil })
		},
	} {
		t.Run(name, func(t *testing.T) {
			const workloads = 120
			lease := leaseName(t)
			settings := harness.Settings{Arguments: []string{
				"--namespace=" + own, "--leader-elect", "--leader-election-id=" + lease,
				"--leader-election-lease-duration=5s", "--leader-election-renew-deadline=3s", "--leader-election-retry-period=1s",
			}}
			log := &audit{writes: map[string][]span{}}
			before := harness.StartProcess(t, program, kubeconfigThrough(t, log.of("before", 300*time.Millisecond)), settings)
			harness.Eventually(t, "the first leader", func() bool { return leads(t, before) })
			after := harness.StartProcess(t, program, kubeconfigThrough(t, log.of("after", 0)), settings)
			harness.Eventually(t, "the second operator on standby", func() bool {
				return len(after.Said(t, "standing by")) > 0 && get(t, after.Health, "/readyz") == 200
			})
			namespace := world.Namespace(t)
			var deployments []*appsv1.Deployment
			for i := range workloads {
				deployments = append(deployments, labeled(t, fmt.Sprintf("app-%d", i), namespace))
			}
			sidecar(t, namespace)
			harness.Eventually(t, "the fan-out in progress", func() bool { return log.count("before") >= workloads/10 })

			take(t, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: own, Name: lease}})

			for _, d := range deployments {
				harness.Until(t, world, d, "the sidecar", isInjected)
			}
			require.Positive(t, log.count("after"), "the other one has finished it")
			late, pause := log.late("before", "after")
			t.Logf("%d writes by the one before, %d by the one after, %d of the former late; %s between the last and the first", log.count("before"), log.count("after"), late, pause)
			require.Zero(t, late)
			require.Equal(t, 1, before.ExitCode(), "it ends, and its pod starts anew")
			require.Contains(t, before.Said(t, "running the operator")[0]["error"], "Lease "+own+"/"+lease+"; the operator stops writing and restarts")
			require.Len(t, after.Said(t, waiting), 1)
			noErrors(t, after)
		})
	}
}

// Without an existing Lease, the first leader does not wait.
func TestFence_DoesNotDelayNewInstallation(t *testing.T) {
	namespace := world.Namespace(t)
	cart := labeled(t, "cart", namespace)
	sidecar(t, namespace)

	leader := start(t, harness.Settings{Arguments: []string{
		"--leader-elect", "--leader-election-id=new-" + namespace, "--watch-namespaces=" + namespace,
	}})

	harness.Until(t, world, cart, "the sidecar", isInjected)
	require.Empty(t, leader.Said(t, waiting))
}

// Another client annotates the Lease. The leader renews it and continues to lead.
func TestFence_KeepsLeaseAfterChangeByOtherClient(t *testing.T) {
	name := leaseName(t)
	leader := start(t, harness.Settings{Arguments: []string{
		"--leader-elect", "--leader-election-id=" + name,
		"--leader-election-lease-duration=3s", "--leader-election-renew-deadline=2s", "--leader-election-retry-period=500ms",
	}})
	harness.Eventually(t, "the leadership", func() bool { return leads(t, leader) })
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: own, Name: name}}

	harness.Change(t, world, lease, func(l *coordinationv1.Lease) { l.Annotations = map[string]string{"example.com/by": "somebody"} })
	changed := lease.Spec.RenewTime.Time
	harness.Until(t, world, lease, "a renewal", func(l *coordinationv1.Lease) bool { return l.Spec.RenewTime.After(changed) })
	namespace := world.Namespace(t)
	cart := labeled(t, "cart", namespace)
	sidecar(t, namespace)

	harness.Until(t, world, cart, "the sidecar", isInjected)
	noErrors(t, leader)
}
