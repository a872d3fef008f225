// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

var (
	logsOfShop  = types.NamespacedName{Namespace: "shop", Name: "logs"}
	auditOfShop = types.NamespacedName{Namespace: "shop", Name: "audit"}
)

// seen returns a plan for a sidecar with a hash, made from a version of a workload.
func seen(resourceVersion string, generation int64, hash string) *plan.Plan {
	return &plan.Plan{
		Target: workload.Ref{Kind: "Deployment", Namespace: "shop", Name: "cart", UID: "u"},
		Change: plan.Update, Workload: workload.State{ResourceVersion: resourceVersion, EquivalentVersion: resourceVersion, Generation: generation},
		Desired: plan.NewDesired(&workload.Overlay{Hash: hash}, "logs", "vector", "", plan.Notes{}),
	}
}

// A write is pending until the cache contains its result, so that it is not repeated.
func TestPendingWrite_ReportsWriteUntilCacheShowsIt(t *testing.T) {
	m := New(time.Now)
	logs, audit := m.GetOrCreate(logsOfShop), m.GetOrCreate(auditOfShop)
	require.False(t, logs.IsPending(seen("10", 1, "a")))

	logs.RecordWrite(seen("10", 1, "a"), 2, "14")

	for name, test := range map[string]struct {
		plan *plan.Plan
		want bool
	}{
		"the version that was written to":   {seen("10", 1, "a"), true},
		"a newer one, still before ours":    {seen("11", 1, "a"), true},
		"the same, for another sidecar":     {seen("10", 1, "b"), true},
		"between two requests of ours":      {seen("12", 2, "a"), true},
		"somebody's between them":           {seen("13", 2, "a"), true},
		"ours":                              {seen("14", 2, "a"), false},
		"one that somebody wrote after us":  {seen("15", 3, "a"), false},
		"another workload of the same name": {func() *plan.Plan { p := seen("10", 1, "a"); p.Target.UID = "other"; return p }(), false},
	} {
		require.Equal(t, test.want, logs.IsPending(test.plan), name)
	}
	require.False(t, audit.IsPending(seen("10", 1, "a")), "another VectorSidecar has its own")
}

// Each rejection of a write is counted. A successful write resets the count.
func TestRejectedWrites_AreCountedUntilWriteSucceeds(t *testing.T) {
	now := time.Unix(10_000, 0)
	m := New(func() time.Time { return now })
	logs, audit := m.GetOrCreate(logsOfShop), m.GetOrCreate(auditOfShop)
	no, refused := errors.New("no"), seen("10", 1, "a")
	require.Nil(t, logs.RejectedWrites())

	logs.RecordRejection(refused, no, true)

	denial := decision.RejectedWrite{Rejection: plan.Rejection{Err: no, RejectedAt: now, RetryAt: now.Add(LastRetry)}, Seen: "10", Change: plan.Update, Hash: refused.InjectedHash()}
	require.Equal(t, map[types.UID]decision.RejectedWrite{"u": denial}, logs.RejectedWrites())
	require.Nil(t, audit.RejectedWrites(), "another VectorSidecar has its own")
	require.False(t, logs.IsPending(refused), "nothing was written that the cache could be behind of")

	now = now.Add(time.Minute)
	logs.RecordRejection(refused, no, false)
	require.Equal(t, plan.Rejection{Err: no, RejectedAt: now}, logs.RejectedWrites()["u"].Rejection, "the last attempt counts")

	logs.RecordWrite(seen("11", 1, "a"), 2, "")
	require.Nil(t, logs.RejectedWrites())
	logs.RecordRejection(seen("12", 2, "b"), no, true)
	require.EqualValues(t, 2, logs.Generation("u"), "what was written before is remembered for pacing")
	logs.ResetRejections("1")
	require.Nil(t, logs.RejectedWrites(), "a user retries the spec")
	require.EqualValues(t, 2, logs.Generation("u"))
}

// An expected write of a workload is dropped if the workload has no plan any more.
func TestKeepExpectations_DropsExpectationsWithoutPlan(t *testing.T) {
	m := New(time.Now)
	logs, audit := m.GetOrCreate(logsOfShop), m.GetOrCreate(auditOfShop)
	logs.RecordWrite(seen("10", 1, "a"), 2, "")
	audit.RecordRejection(seen("10", 1, "b"), errors.New("no"), true)
	require.ElementsMatch(t, []types.NamespacedName{logsOfShop, auditOfShop}, m.Writers("u"))
	require.Equal(t, []workload.Ref{seen("10", 1, "a").Target}, logs.WrittenWorkloads(nil, 0))
	require.EqualValues(t, 2, logs.Generation("u"))
	require.Empty(t, audit.WrittenWorkloads(nil, 0), "what was refused has not begun")
	require.Zero(t, audit.Generation("u"))
	require.Empty(t, logs.WrittenWorkloads(func(int) types.UID { return "u" }, 1), "that one is known")

	logs.KeepExpectations([]plan.Plan{*seen("11", 2, "a"), {Target: workload.Ref{UID: "v"}}})
	require.NotZero(t, logs.Generation("u"), "the workload is still there")

	logs.KeepExpectations([]plan.Plan{{Target: workload.Ref{UID: "v"}}})
	audit.KeepExpectations(nil)
	require.Empty(t, logs.writes, "nothing is left of what is gone")
	require.Empty(t, m.writers)
}

// While the cache does not contain the operator's last write, the wait before the next attempt grows up to a limit. The
// next write resets it.
func TestRecordMiss_DoublesWaitForCache(t *testing.T) {
	m := New(time.Now)
	logs, last := m.GetOrCreate(logsOfShop), time.Duration(0)
	for range 20 {
		wait := logs.RecordMiss(seen("10", 1, "a"), nil)
		require.Greater(t, wait, min(last, LastRetry-1))
		last = wait
	}
	require.Equal(t, LastRetry, last)
	require.True(t, m.IsAwaited("u"))
	logs.RecordWrite(seen("11", 1, "a"), 2, "12")
	require.False(t, m.IsAwaited("u"))
	require.Equal(t, FirstRetry, logs.RecordMiss(seen("12", 2, "a"), nil), "a write ends it")
	require.EqualValues(t, 2, logs.Generation("u"), "and is remembered for pacing")
}

// One conflict may be a race with another writer. A conflict is unexplained only if it repeats although the live
// workload was read and has not changed. A webhook may then be its cause.
func TestUnexplainedConflict_RequiresCurrentWorkload(t *testing.T) {
	logs, answer := New(time.Now).GetOrCreate(logsOfShop), errors.New("no")
	on := seen("10", 1, "a")
	unexplained := func() error {
		stale, _ := logs.StaleWrite(on)
		return stale.UnexplainedConflict()
	}
	require.NoError(t, unexplained())
	for range 3 {
		logs.RecordMiss(on, answer)
		require.NoError(t, unexplained(), "the cache may be behind")
	}
	logs.ConfirmVersion(on)
	logs.RecordMiss(on, answer)
	require.NoError(t, unexplained(), "it may have changed since it was read")
	logs.ConfirmVersion(on)
	require.NoError(t, unexplained())
	logs.RecordMiss(on, answer)
	require.Equal(t, answer, unexplained())
	logs.ConfirmVersion(on)
	require.Equal(t, answer, unexplained(), "until something comes of it")
	logs.RecordMiss(on, nil)
	require.NoError(t, unexplained(), "it has changed after all")
}
