// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

func TestAStatusIsWrittenTwiceAtOnceAndThenOnceASecond(t *testing.T) {
	now := time.Unix(1000, 0)
	s := newStatusPace(func() time.Time { return now })
	require.Zero(t, s.wait(logsOfShop))
	require.Zero(t, s.wait(logsOfShop))
	require.Equal(t, time.Second, s.wait(logsOfShop))
	require.Zero(t, s.wait(auditOfShop), "each has a pace of its own")

	now = now.Add(400 * time.Millisecond)
	require.Equal(t, 600*time.Millisecond, s.wait(logsOfShop), "asking costs nothing")
	written := 0
	for range 100 {
		now = now.Add(100 * time.Millisecond)
		if s.wait(logsOfShop) == 0 {
			written++
		}
	}
	require.Equal(t, 10, written)

	s.forget(logsOfShop)
	require.Zero(t, s.wait(logsOfShop))
}

func TestWhatAHeldBackStatusHadToTellIsNotLost(t *testing.T) {
	s := newStatusPace(func() time.Time { return time.Unix(1000, 0) })
	for range statusBurst {
		require.Zero(t, s.wait(logsOfShop))
	}
	require.False(t, s.changed(logsOfShop, false))
	require.True(t, s.changed(logsOfShop, true))
	require.NotZero(t, s.wait(logsOfShop))
	require.True(t, s.changed(logsOfShop, false), "it was not told yet")
}

// The cache may show the status before ours, so that going back to that one would look
// like nothing new.
func TestAStatusIsComparedWithTheLastOneWritten(t *testing.T) {
	s := newStatusPace(time.Now)
	as := func(version string, updated int32) *v1alpha1.VectorSidecar {
		sidecar := objects.NewVectorSidecar("logs", "shop").Build()
		sidecar.ResourceVersion, sidecar.Status.UpdatedDeployments = version, updated
		return sidecar
	}
	require.EqualValues(t, 1, s.last(as("10", 1)).UpdatedDeployments)
	s.wrote(as("12", 2))
	require.EqualValues(t, 2, s.last(as("10", 1)).UpdatedDeployments, "the cache is behind")
	require.EqualValues(t, 3, s.last(as("14", 3)).UpdatedDeployments, "somebody wrote another since")
	require.EqualValues(t, 4, s.last(as("15", 4)).UpdatedDeployments)
	s.wrote(as("17", 5))
	require.EqualValues(t, 5, s.last(as("17", 5)).UpdatedDeployments)
	require.Nil(t, s.told[logsOfShop].status, "the cache has it")
}

// After a write without an answer the status is written as a whole: it may be the one
// before, or the one that was sent.
func TestAStatusThatNobodyKnowsIsWrittenAsAWhole(t *testing.T) {
	pace := newStatusPace(time.Now)
	sidecar := &v1alpha1.VectorSidecar{}
	sidecar.Name, sidecar.Namespace = "logs", "shop"
	name := client.ObjectKeyFromObject(sidecar)
	require.False(t, pace.isUnknown(name))
	pace.failed(name)
	require.True(t, pace.isUnknown(name))
	pace.wrote(sidecar)
	require.False(t, pace.isUnknown(name))

	patch, err := whole(&v1alpha1.VectorSidecarStatus{UpdatedDeployments: 3})
	require.NoError(t, err)
	text, err := patch.Data(sidecar)
	require.NoError(t, err)
	var sent struct{ Status map[string]any }
	require.NoError(t, json.Unmarshal(text, &sent))
	require.EqualValues(t, 3, sent.Status["updatedDeployments"])
	for _, field := range []string{"unsettled", "conditions", "environment"} {
		value, isNamed := sent.Status[field]
		require.True(t, isNamed, "%s: what was sent before goes", field)
		require.Nil(t, value, field)
	}
}
