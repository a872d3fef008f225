// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/preflight"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// The state of one VectorSidecar is dropped, and that of others stays.
func TestForget_DropsAllStateOfVectorSidecar(t *testing.T) {
	m := New(time.Now)
	fill := func(of *Sidecar) {
		of.RecordWrite(seen("10", 1, "a"), 2, "14")
		of.RecordInjection("u", "a")
		of.RecordMiss(seen("10", 1, "a"), nil)
		of.SetDryRun(shaped(1), preflight.DryRunResult{Result: preflight.Rejected})
		for range loopWrites {
			of.RecordInjection("u", "a")
		}
		of.AddReference(types.NamespacedName{Namespace: "shop", Name: "shipping"})
		of.SetVerdict("key", decision.Verdict{State: decision.VerdictValid})
		of.SetFault("u", workload.Fault{}, true)
		of.MarkChanged(true)
		of.RequestResync()
	}
	fill(m.GetOrCreate(logsOfShop))
	fill(m.GetOrCreate(auditOfShop))

	require.Empty(t, m.Forget(logsOfShop), "another one depends on its ConfigMap, too")

	require.Equal(t, m.newSidecar(logsOfShop), m.Peek(logsOfShop))
	require.Equal(t, []types.NamespacedName{auditOfShop}, m.Writers("u"))
	require.EqualValues(t, 2, m.GetOrCreate(auditOfShop).Generation("u"))
	require.Len(t, m.Forget(auditOfShop), 1)
	require.Empty(t, m.sidecars)
	require.Empty(t, m.writers)
	require.Empty(t, m.referrers)
	for _, retry := range []Retry{retryStaleWrite, retryCorrection} {
		require.Zero(t, m.Backoff.Last(retry, m.newSidecar(logsOfShop).attemptKey("u")), retry.name)
	}
	require.Zero(t, m.Backoff.Last(retryDryRun, m.newSidecar(logsOfShop).dryRunKey(preflight.NewKey(shaped(1)))))
}

// Peek returns an empty state for an unknown VectorSidecar, and does not store it.
func TestPeek_DoesNotCreateState(t *testing.T) {
	m := New(time.Now)
	m.Peek(logsOfShop)
	require.Empty(t, m.sidecars)
	m.GetOrCreate(logsOfShop).RequestResync()
	require.True(t, m.Peek(logsOfShop).IsResyncDue())
}

// If Vector could not run, the result of the validation expires, so that the validation is repeated.
func TestVerdict_ExpiresIfVectorDidNotRun(t *testing.T) {
	now := time.Now()
	logs := New(func() time.Time { return now }).GetOrCreate(logsOfShop)
	require.Equal(t, decision.VerdictPending, logs.Verdict("a").State)
	logs.SetVerdict("a", decision.Verdict{State: decision.VerdictUnable, Message: errors.ErrUnsupported.Error()})
	logs.SetVerdict("b", decision.Verdict{State: decision.VerdictInvalid})
	require.Equal(t, decision.VerdictUnable, logs.Verdict("a").State)
	now = now.Add(LastRetry)
	require.Equal(t, decision.VerdictPending, logs.Verdict("a").State)
	require.Equal(t, decision.VerdictInvalid, logs.Verdict("b").State)
	for key := range 2 * mostVerdicts {
		logs.SetVerdict(string(rune(key)), decision.Verdict{})
	}
	require.LessOrEqual(t, len(logs.verdicts), mostVerdicts)
}

// Reconciles, event handlers and dry runs use the state at the same time. The mutex of a Sidecar is locked before the
// mutex of Memory, so no order of these calls blocks.
func TestMemory_IsSafeForConcurrentUse(t *testing.T) {
	m := New(time.Now)
	configMap := types.NamespacedName{Namespace: "shop", Name: "shipping"}
	group := sync.WaitGroup{}
	for _, use := range []func(name types.NamespacedName){
		func(name types.NamespacedName) { m.GetOrCreate(name).RecordWrite(seen("10", 1, "a"), 2, "14") },
		func(name types.NamespacedName) { m.GetOrCreate(name).RecordMiss(seen("10", 1, "a"), nil) },
		func(name types.NamespacedName) { m.GetOrCreate(name).RecordInjection("u", "a") },
		func(name types.NamespacedName) { m.GetOrCreate(name).AddReference(configMap) },
		func(name types.NamespacedName) { m.GetOrCreate(name).KeepReferences(nil) },
		func(name types.NamespacedName) { m.GetOrCreate(name).KeepExpectations(nil) },
		func(name types.NamespacedName) { m.GetOrCreate(name).SetPrevious(weighing(1)) },
		func(name types.NamespacedName) { m.Peek(name).RejectedWrites() },
		func(types.NamespacedName) { m.IsAwaited("u") },
		func(types.NamespacedName) { m.Referrers(configMap) },
		func(name types.NamespacedName) { m.Forget(name) },
	} {
		for _, name := range []types.NamespacedName{logsOfShop, auditOfShop} {
			group.Go(func() {
				for range 100 {
					use(name)
				}
			})
		}
	}
	group.Wait()
	m.Forget(logsOfShop)
	m.Forget(auditOfShop)
	require.Empty(t, m.sidecars)
}
