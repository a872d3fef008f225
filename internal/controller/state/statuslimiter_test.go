// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// After a few immediate status writes of a VectorSidecar, one per second is allowed.
func TestReserveStatus_AllowsBurstThenOnePerSecond(t *testing.T) {
	now := time.Unix(1000, 0)
	m := New(func() time.Time { return now })
	s := m.GetOrCreate(logsOfShop)
	require.Zero(t, s.ReserveStatus())
	require.Zero(t, s.ReserveStatus())
	require.Equal(t, time.Second, s.ReserveStatus())
	require.Zero(t, m.GetOrCreate(auditOfShop).ReserveStatus(), "each has a pace of its own")

	now = now.Add(400 * time.Millisecond)
	require.Equal(t, 600*time.Millisecond, s.ReserveStatus(), "asking costs nothing")
	written := 0
	for range 100 {
		now = now.Add(100 * time.Millisecond)
		if s.ReserveStatus() == 0 {
			written++
		}
	}
	require.Equal(t, 10, written)

	m.Forget(logsOfShop)
	require.Zero(t, m.GetOrCreate(logsOfShop).ReserveStatus())
}

// A delayed status counts as changed until it is written.
func TestMarkChanged_RemembersDelayedStatus(t *testing.T) {
	s := New(func() time.Time { return time.Unix(1000, 0) }).GetOrCreate(logsOfShop)
	for range statusBurst {
		require.Zero(t, s.ReserveStatus())
	}
	require.False(t, s.MarkChanged(false))
	require.True(t, s.MarkChanged(true))
	require.NotZero(t, s.ReserveStatus())
	require.True(t, s.MarkChanged(false), "it was not told yet")
}

// After a status write, the cache may still have the earlier status. Status returns the written one, so that a change
// back to the earlier one is noticed.
func TestStatus_ReturnsLastWrittenStatus(t *testing.T) {
	s := New(time.Now).GetOrCreate(logsOfShop)
	as := func(version string, updated int32) *v1alpha1.VectorSidecar {
		sidecar := objects.NewVectorSidecar("logs", "shop").Build()
		sidecar.ResourceVersion, sidecar.Status.InjectedDeployments = version, updated
		return sidecar
	}
	require.EqualValues(t, 1, s.Status(as("10", 1)).InjectedDeployments)
	s.MarkStatusWritten(as("12", 2))
	require.EqualValues(t, 2, s.Status(as("10", 1)).InjectedDeployments, "the cache is behind")
	require.EqualValues(t, 3, s.Status(as("14", 3)).InjectedDeployments, "somebody wrote another since")
	require.EqualValues(t, 4, s.Status(as("15", 4)).InjectedDeployments)
	s.MarkStatusWritten(as("17", 5))
	require.EqualValues(t, 5, s.Status(as("17", 5)).InjectedDeployments)
	require.EqualValues(t, 5, s.Status(as("15", 4)).InjectedDeployments, "that was what a pass had in hand, and the cache is behind")
	require.EqualValues(t, 6, s.Status(as("18", 6)).InjectedDeployments)
	require.Nil(t, s.status.written.Value, "the cache is past it")
	s.MarkStatusWritten(as("20", 7))
	again := as("19", 8)
	again.UID = "again"
	require.EqualValues(t, 8, s.Status(again).InjectedDeployments, "another object has the same name")
}

// The state does not keep a large last known good spec. A VectorSidecar that is read after the write has it.
func TestStatus_OmitsLargeLastGood(t *testing.T) {
	s := New(time.Now).GetOrCreate(logsOfShop)
	as := func(version string, size int) *v1alpha1.VectorSidecar {
		sidecar := objects.NewVectorSidecar("logs", "shop").Build()
		sidecar.ResourceVersion, sidecar.Status.Environment = version, version
		sidecar.Status.LastKnownGood = &v1alpha1.LastKnownGoodSpec{Spec: strings.Repeat("x", size)}
		return sidecar
	}
	s.MarkStatusWritten(as("12", 1))
	require.Equal(t, as("12", 1).Status, *s.Status(as("10", 2)))
	require.False(t, s.LacksLastGood(as("10", 2)))
	large := as("14", 200<<10)
	s.MarkStatusWritten(large)
	require.Less(t, bounded.Footprint(s.status.written.Value), 1<<10)
	require.True(t, s.LacksLastGood(as("12", 1)))
	require.False(t, s.LacksLastGood(large))
	require.Equal(t, large.Status, *s.Status(large))
	require.False(t, s.LacksLastGood(as("15", 1)))
	require.Equal(t, as("15", 1).Status, *s.Status(as("15", 1)))
	s.MarkStatusWritten(as("16", 1))
	require.False(t, s.LacksLastGood(as("15", 1)))
}

// Rollout returns the recorded rollout status until it is written.
func TestRollout_ReturnsUnwrittenRollout(t *testing.T) {
	s := New(func() time.Time { return time.Unix(1000, 0) }).GetOrCreate(logsOfShop)
	vs := &v1alpha1.VectorSidecar{}
	vs.Status.Rollout = &v1alpha1.RolloutStatus{Revision: "one"}
	begun := &v1alpha1.RolloutStatus{Revision: "one", StartTime: &metav1.Time{Time: time.Unix(1000, 0)}}

	require.Equal(t, vs.Status.Rollout, s.Rollout(&vs.Status))
	s.SetRollout(begun)
	require.Equal(t, begun, s.Rollout(&vs.Status))
	s.MarkStatusWritten(vs)
	require.Equal(t, vs.Status.Rollout, s.Rollout(&vs.Status))
	s.SetRollout(nil)
	require.Equal(t, vs.Status.Rollout, s.Rollout(&vs.Status))
}

// A status write has no response, so the stored status may be the old or the new one. It is unknown until a later write
// succeeds.
func TestIsStatusUnknown_EndsWithNextSuccessfulWrite(t *testing.T) {
	s := New(time.Now).GetOrCreate(logsOfShop)
	require.False(t, s.IsStatusUnknown())
	s.MarkStatusUnknown()
	require.True(t, s.IsStatusUnknown())
	s.MarkStatusWritten(&v1alpha1.VectorSidecar{})
	require.False(t, s.IsStatusUnknown())
}
