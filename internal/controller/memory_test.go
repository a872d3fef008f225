// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

var (
	logsOfShop  = types.NamespacedName{Namespace: "shop", Name: "logs"}
	auditOfShop = types.NamespacedName{Namespace: "shop", Name: "audit"}
)

// seen is a plan made from a version of a workload, for a sidecar of a hash.
func seen(resourceVersion string, generation int64, hash string) *plan.Plan {
	return &plan.Plan{
		Target: workload.Ref{Kind: "Deployment", Namespace: "shop", Name: "cart", UID: "u"},
		Action: plan.Update, State: workload.State{ResourceVersion: resourceVersion, Seen: resourceVersion, Generation: generation},
		Desired: plan.NewDesired(&render.Overlay{Hash: hash}, "logs", "vector", "", nil),
	}
}

func TestAWriteIsNotRepeatedBeforeTheCacheShowsIt(t *testing.T) {
	l := newLedger(time.Now)
	require.False(t, l.pending(logsOfShop, seen("10", 1, "a")))

	l.wrote(logsOfShop, seen("10", 1, "a"), apply.Written{Generation: 2, ResourceVersion: "14"})

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
		require.Equal(t, test.want, l.pending(logsOfShop, test.plan), name)
	}
	require.False(t, l.pending(auditOfShop, seen("10", 1, "a")), "another VectorSidecar has its own")
}

func TestARefusalHoldsUntilSomethingChanges(t *testing.T) {
	l := newLedger(time.Now)
	no := errors.New("no")

	l.refused(logsOfShop, seen("10", 1, "a"), no)

	require.ErrorIs(t, l.refusal(logsOfShop, seen("10", 1, "a")), no)
	l.now = func() time.Time { return time.Now().Add(lastRetry) }
	require.NoError(t, l.refusal(logsOfShop, seen("10", 1, "a")), "what refused it may be lifted by then")
	l.now = time.Now
	require.False(t, l.pending(logsOfShop, seen("10", 1, "a")), "nothing was written that the cache could be behind of")
	require.NoError(t, l.refusal(logsOfShop, seen("11", 1, "a")), "the workload is another")
	later := seen("11", 1, "a")
	later.Seen = "10"
	require.ErrorIs(t, l.refusal(logsOfShop, later), no, "its status is another")
	require.NoError(t, l.refusal(logsOfShop, seen("10", 1, "b")), "the sidecar is another")
	removal := seen("10", 1, "a")
	removal.Action = plan.Remove
	require.NoError(t, l.refusal(logsOfShop, removal), "to remove is something else")
	require.NoError(t, l.refusal(auditOfShop, seen("10", 1, "a")))

	l.wrote(logsOfShop, seen("11", 1, "a"), apply.Written{Generation: 2})
	require.NoError(t, l.refusal(logsOfShop, seen("10", 1, "a")), "the last attempt counts")
}

func TestTheLedgerForgets(t *testing.T) {
	l := newLedger(time.Now)
	l.wrote(logsOfShop, seen("10", 1, "a"), apply.Written{Generation: 2})
	l.refused(auditOfShop, seen("10", 1, "b"), errors.New("no"))
	require.ElementsMatch(t, []types.NamespacedName{logsOfShop, auditOfShop}, l.ownersOf("u"))
	require.Equal(t, []workload.Ref{seen("10", 1, "a").Target}, l.besides(logsOfShop, nil))
	require.EqualValues(t, 2, l.generation(logsOfShop, "u"))
	require.Empty(t, l.besides(auditOfShop, nil), "what was refused has not begun")
	require.Zero(t, l.generation(auditOfShop, "u"))
	require.Empty(t, l.besides(logsOfShop, []*workloadcache.Record{workloadcache.Showing(workload.View{Ref: workload.Ref{UID: "u"}})}), "that one is known")

	l.keep(logsOfShop, []plan.Plan{*seen("11", 2, "a"), {Target: workload.Ref{UID: "v"}}})
	require.NotZero(t, l.generation(logsOfShop, "u"), "the workload is still there")

	l.keep(logsOfShop, []plan.Plan{{Target: workload.Ref{UID: "v"}}})
	l.keep(auditOfShop, nil)
	require.Empty(t, l.entries, "nothing is left of what is gone")
	require.Empty(t, l.owners)
}

func TestReferencesFollowTheLastWord(t *testing.T) {
	r := newReferences()
	in := func(namespace, name string) types.NamespacedName {
		return types.NamespacedName{Namespace: namespace, Name: name}
	}

	r.add(logsOfShop, "shipping")
	r.add(logsOfShop, "shipping")
	r.add(logsOfShop, "logs-vector-1")
	r.add(auditOfShop, "shipping")
	require.ElementsMatch(t, []types.NamespacedName{logsOfShop, auditOfShop}, r.to(in("shop", "shipping")))
	require.Equal(t, []types.NamespacedName{logsOfShop}, r.to(in("shop", "logs-vector-1")))
	require.Empty(t, r.to(in("warehouse", "shipping")), "a VectorSidecar reads its own namespace only")

	r.keep(logsOfShop, "logs-vector-1", "never-asked-for")
	require.Equal(t, []types.NamespacedName{auditOfShop}, r.to(in("shop", "shipping")))
	require.Equal(t, []types.NamespacedName{logsOfShop}, r.to(in("shop", "logs-vector-1")))
	require.Empty(t, r.to(in("shop", "never-asked-for")))

	r.keep(logsOfShop)
	r.keep(auditOfShop)
	require.Empty(t, r.sidecars, "nothing is left of what is gone")
	require.Empty(t, r.configMaps)
}
