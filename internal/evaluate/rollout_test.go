// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package evaluate

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// Package decision tests how rollouts are judged.
func TestDecideIsToldOfRollouts(t *testing.T) {
	s := snapshot(t, logs().WithSoak(-1).Build(), cart())
	carried(s, &decide(t, s).Plans[0])
	s.Now = noon

	change(s, func(v *workload.View) { v.Since = noon.Add(-10 * time.Second) })
	decided := decide(t, s)
	require.Equal(t, meta.ReasonSoaking, decided.Plans[0].Reason)
	require.Equal(t, 20*time.Second, decided.Again)

	change(s, func(v *workload.View) { v.Rollout = workload.RolloutProgressing })
	s.Faults = map[types.UID]workload.Fault{"cart": {Reason: meta.ReasonCrashLoopBackOff, Message: "container vector ended", IsOurs: true}}
	decided = decide(t, s)
	require.True(t, decided.Plans[0].Failed)
	require.Equal(t, meta.ReasonCrashLoopBackOff, decided.Plans[0].Reason)

	s.Sidecar = logs().Disabled().Build()
	change(s, func(v *workload.View) { v.Owned, v.Generation = nil, 1 })
	require.Empty(t, decide(t, s).Plans)
	s.Started = func(uid types.UID) int64 { return map[types.UID]int64{"cart": 1}[uid] }
	require.True(t, decide(t, s).Plans[0].InFlight, "the operator has begun it")
}
