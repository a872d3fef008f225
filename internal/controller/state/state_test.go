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
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Forget drops all state of one VectorSidecar and keeps the state of the others.
func TestForget_DropsAllStateOfVectorSidecar(t *testing.T) {
	m := New(time.Now)
	fill := func(of *Sidecar) {
		of.Wrote(seen("10", 1, "a"), 2, "14")
		of.Injected("u", "a")
		of.Refer(types.NamespacedName{Namespace: "shop", Name: "shipping"})
		of.SetVerdict("key", decision.Verdict{State: decision.VerdictValid})
		of.SetFault("u", workload.Fault{}, true)
		of.HasChanged(true)
		of.ResyncNext()
	}
	fill(m.Of(logsOfShop))
	fill(m.Of(auditOfShop))

	require.Empty(t, m.Forget(logsOfShop), "another one depends on its ConfigMap, too")

	require.Equal(t, m.empty(logsOfShop), m.Peek(logsOfShop))
	require.Equal(t, []types.NamespacedName{auditOfShop}, m.Writers("u"))
	require.EqualValues(t, 2, m.Of(auditOfShop).Generation("u"))
	require.Len(t, m.Forget(auditOfShop), 1)
	require.Empty(t, m.sidecars)
	require.Empty(t, m.writers)
	require.Empty(t, m.referrers)
}

func TestPeek_StoresNothing(t *testing.T) {
	m := New(time.Now)
	m.Peek(logsOfShop)
	require.Empty(t, m.sidecars)
	m.Of(logsOfShop).ResyncNext()
	require.True(t, m.Peek(logsOfShop).IsResyncDue())
}

// A result without an answer of Vector expires, so that the check is repeated.
func TestVerdict_ExpiresWhenVectorDidNotRun(t *testing.T) {
	now := time.Now()
	logs := New(func() time.Time { return now }).Of(logsOfShop)
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
	require.LessOrEqual(t, len(logs.byKey), mostVerdicts)
}
