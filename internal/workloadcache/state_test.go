// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workloadcache

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/randfill"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Whatever a State has, also fields that it gets later, is in the packed one.
func TestPackState_KeepsAllFields(t *testing.T) {
	for seed := range int64(50) {
		filler := randfill.NewWithSeed(seed).NilChance(0.3).Funcs(func(of *time.Time, c randfill.Continue) {
			*of = time.Unix(c.Int63n(4e9), c.Int63n(1e9))
		})
		var state workload.State
		filler.Fill(&state)
		of := packState(&state)
		require.Equal(t, state, of.unpack(), "seed %d", seed)
	}
	var none workload.State
	of := packState(&none)
	require.Equal(t, none, of.unpack())
	require.Nil(t, of.texts)
}

// Who may write a workload's status may write any time into it.
func TestNewMoment_KeepsOrderOfExtremeTimes(t *testing.T) {
	at := func(year int) time.Time { return time.Date(year, 6, 1, 0, 0, 0, 0, time.UTC) }
	var last time.Time
	for _, year := range []int{-5000, 1, 1600, 1678, 1970, 2026, 2261, 9999} {
		now := newMoment(at(year)).time()
		require.False(t, now.Before(last), year)
		require.False(t, now.IsZero(), year)
		if year >= 1678 && year <= 2261 {
			require.True(t, now.Equal(at(year)), year)
		}
		last = now
	}
	require.True(t, newMoment(time.Time{}).time().IsZero())
	require.True(t, newMoment(time.Unix(0, 0)).time().Equal(time.Unix(0, 0)))
}
