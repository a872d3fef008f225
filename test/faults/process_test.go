// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/test/faults/wire"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

// Faults of processes: the operator's process is killed, or stopped and continued, and so is the control plane. They
// affect every namespace, so the tests are not parallel.

// named returns the scenario with a name.
func named(t *testing.T, name string) *scenario {
	t.Helper()
	every := scenarios()
	at := slices.IndexFunc(every, func(s scenario) bool { return s.name == name })
	require.GreaterOrEqual(t, at, 0, "no scenario is named %q", name)
	return &every[at]
}

// onlyInFull skips a test that is too slow for make test-integration.
func onlyInFull(t *testing.T) {
	t.Helper()
	if !*full || *only != "" {
		t.Skip("only in make faults, as a whole")
	}
}

// asProcess runs the operator as a process behind a proxy, and kills the process when its life ends.
func asProcess(t *testing.T, binary string) program {
	t.Helper()
	return func(ctx context.Context, p *place, life *wire.Life) {
		proxy, err := wire.Serve(life, world.Operator, t.TempDir())
		if err != nil {
			t.Errorf("serving a proxy: %v", err)
			return
		}
		running := harness.StartProcess(t, binary, proxy.Kubeconfig, harness.Settings{Arguments: []string{
			"--namespace=" + p.namespace, "--watch-namespaces=" + p.namespace, "--concurrency=1", "--environments-configmap=" + environments,
		}})
		select {
		case <-ctx.Done():
		case <-life.Crashed():
		case <-running.Ended():
		}
		running.Kill()
		life.Crash()
		if err := proxy.Close(); err != nil {
			t.Errorf("closing a proxy: %v", err)
		}
	}
}

// The operator is killed before or after any of its writes. The next process reaches the same state.
func TestOperator_RecoversFromKillAtAnyWrite(t *testing.T) {
	binary, err := harness.BuildOperator(t.Context(), t.TempDir())
	require.NoError(t, err)
	s, program := named(t, "inject before init containers"), asProcess(t, binary)
	if !*full {
		s = named(t, "inject")
	}
	should, err := play(t.Context(), &game{scenario: s})
	require.NoError(t, err)
	for kind, n := range should.writes {
		for i := range n {
			for _, effect := range []wire.Effect{wire.CrashBefore, wire.CrashAfter} {
				fault := &wire.Fault{At: wire.Write{Kind: kind, N: i + 1}, Effect: effect}
				if !*full && fault.At != (wire.Write{Kind: "apply deployments", N: 1}) {
					continue
				}
				t.Run(fault.String(), func(t *testing.T) {
					t.Parallel()
					j := &job{game: game{scenario: s, program: program, fault: fault, should: should}}
					if j.perform(t.Context()); !j.isMissed() {
						require.NoError(t, j.err)
					}
				})
			}
		}
	}
}

// middle returns the n-th apply of a Deployment in a fan-out.
func middle(n int) wire.Write { return wire.Write{Kind: "apply deployments", N: n} }

const manyWorkloads = 50

// The API server or etcd is killed or frozen while the operator changes many workloads. The operator still changes all
// of them.
func TestOperator_FinishesFanOutAfterServerFaults(t *testing.T) {
	onlyInFull(t)
	s := named(t, fmt.Sprintf("fan-out to %d", manyWorkloads))
	should, err := play(t.Context(), &game{scenario: s})
	require.NoError(t, err)
	freeze := func(name string) func(context.Context) error {
		return func(context.Context) error {
			thaw, err := plane.Freeze(name)
			if err != nil {
				return err
			}
			<-time.After(5 * time.Second)
			return thaw()
		}
	}
	for name, suffer := range map[string]func(context.Context) error{
		"the API server is killed": func(ctx context.Context) error {
			if err := plane.KillAPIServer(ctx); err != nil {
				return err
			}
			return plane.StartAPIServer()
		},
		"etcd is killed": func(ctx context.Context) error {
			if err := plane.KillEtcd(ctx); err != nil {
				return err
			}
			return plane.StartEtcd()
		},
		"the API server is frozen": freeze("kube-apiserver"),
		"etcd is frozen":           freeze("etcd"),
	} {
		for _, n := range []int{1, manyWorkloads / 2, manyWorkloads} {
			t.Run(fmt.Sprintf("%s before write %d", name, n), func(t *testing.T) {
				var failed error
				_, err := play(t.Context(), &game{scenario: s, should: should, before: map[wire.Write]func(){
					middle(n): func() { failed = suffer(t.Context()) },
				}})
				require.NoError(t, failed)
				require.NoError(t, err)
			})
		}
	}
}

// pair is two operators with leader election.
type pair struct {
	t      *testing.T
	binary string

	mu  sync.Mutex
	all []*harness.Process
}

// run runs both until the end of the run, or until the leader has exited and one is left.
func (o *pair) run(ctx context.Context, p *place, life *wire.Life) {
	proxy, err := wire.Serve(life, world.Operator, o.t.TempDir())
	if err != nil {
		o.t.Errorf("serving a proxy: %v", err)
		return
	}
	defer func() { _ = proxy.Close() }() // It never fails.
	for range 2 {
		running := harness.StartProcess(o.t, o.binary, proxy.Kubeconfig, harness.Settings{Arguments: []string{
			"--namespace=" + harness.AccountNamespace, "--watch-namespaces=" + p.namespace, "--concurrency=1", "--leader-elect", "--leader-election-id=" + harness.Account,
			"--leader-election-lease-duration=3s", "--leader-election-renew-deadline=2s", "--leader-election-retry-period=500ms",
		}})
		o.mu.Lock()
		o.all = append(o.all, running)
		o.mu.Unlock()
	}
	<-ctx.Done()
	for _, running := range o.all {
		running.Kill()
	}
}

// leaders returns the operators that have led so far.
func (o *pair) leaders() (found []*harness.Process) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, running := range o.all {
		if len(running.Said(o.t, "Successfully acquired lease")) > 0 {
			found = append(found, running)
		}
	}
	return found
}

// The leader is frozen while it changes many workloads. Another replica leads and finishes. When the first one
// continues, it does not write.
func TestOperator_TakesOverFanOutOfFrozenLeader(t *testing.T) {
	onlyInFull(t)
	binary, err := harness.BuildOperator(t.Context(), t.TempDir())
	require.NoError(t, err)
	s := named(t, fmt.Sprintf("fan-out to %d", manyWorkloads))
	should, err := play(t.Context(), &game{scenario: s})
	require.NoError(t, err)
	for _, n := range []int{1, manyWorkloads / 2, manyWorkloads} {
		t.Run(fmt.Sprintf("before write %d", n), func(t *testing.T) {
			both := &pair{t: t, binary: binary}
			_, err := play(t.Context(), &game{scenario: s, should: should, program: both.run, before: map[wire.Write]func(){
				middle(n): func() {
					leader := both.leaders()[0]
					leader.Signal(t, syscall.SIGSTOP)
					for len(both.leaders()) < 2 && pause(t.Context()) == nil {
						continue // The lease lasts for three seconds.
					}
					leader.Signal(t, syscall.SIGCONT)
				},
			}})
			require.NoError(t, err)
		})
	}
}
