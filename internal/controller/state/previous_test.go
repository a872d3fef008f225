// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
)

// weighing returns a previous decision with a size in bytes.
func weighing(bytes int) *decision.Previous {
	return &decision.Previous{Injected: []*decision.Evaluated{{Plan: plan.Plan{Rollout: plan.Rollout{Reason: "r", Message: strings.Repeat("x", bytes)}}}}}
}

// The cached results of a reconcile are dropped if no other reconcile follows soon.
func TestPrevious_ExpiresWithoutNextReconcile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := New(time.Now)
		m.GetOrCreate(logsOfShop).SetPrevious(weighing(1))
		<-time.After(previousFor - time.Second)
		m.GetOrCreate(logsOfShop).SetPrevious(weighing(1))
		<-time.After(previousFor - time.Second)
		synctest.Wait()
		require.NotNil(t, m.GetOrCreate(logsOfShop).Previous(), "there was another pass")
		<-time.After(time.Second)
		synctest.Wait()
		require.Nil(t, m.GetOrCreate(logsOfShop).Previous())
	})
}

// The cached decisions of all VectorSidecars together have a limit of bytes, because a tenant can create any number of
// VectorSidecars.
func TestPrevious_LimitsBytesOfAllVectorSidecars(t *testing.T) {
	m := New(time.Now)
	for n := range 100 {
		name := types.NamespacedName{Namespace: "shop", Name: strconv.Itoa(n)}
		m.GetOrCreate(name).SetPrevious(weighing(500_000))
		require.NotNil(t, m.GetOrCreate(name).Previous())
	}
	require.LessOrEqual(t, m.previous.Bytes(), mostPrevious)
	require.InDelta(t, mostPrevious/500_000, m.previous.Len(), 2)
}

// A decision that is larger than the limit for all VectorSidecars is not cached.
func TestPrevious_DropsOversizedDecision(t *testing.T) {
	m := New(time.Now)
	m.GetOrCreate(logsOfShop).SetPrevious(weighing(1))
	m.GetOrCreate(logsOfShop).SetPrevious(weighing(mostPrevious))
	require.Nil(t, m.GetOrCreate(logsOfShop).Previous())
	require.Zero(t, m.previous.Bytes())
}

// A dropped decision can be garbage-collected, because nothing else refers to it.
func TestSetPrevious_FreesMemoryOfDroppedDecisions(t *testing.T) {
	m := New(time.Now)
	var decisions []weak.Pointer[decision.Previous]
	for n := range 100 {
		of := weighing(500_000)
		decisions = append(decisions, weak.Make(of))
		m.GetOrCreate(types.NamespacedName{Namespace: "shop", Name: strconv.Itoa(n)}).SetPrevious(of)
	}
	runtime.GC()
	live := 0
	for _, of := range decisions {
		if of.Value() != nil {
			live++
		}
	}
	require.Equal(t, m.previous.Len(), live)
	runtime.KeepAlive(m)
}
