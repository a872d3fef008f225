// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// A failed rollout is attributed to the spec of the VectorSidecar or to the revision of the installation.
func TestRollout_AttributesFailureToSpecOrRevision(t *testing.T) {
	now := time.Unix(10_000, 0)
	at := func(generation int64, change func(*Rollout)) *Rollout {
		rollout := &Rollout{Target: fleet.Target{Revision: "new"}}
		rollout.Status = v1alpha1.RolloutStatus{Revision: "new", Generation: generation}
		change(rollout)
		return rollout
	}
	unchanged := func(*Rollout) {}
	// inWave returns the wave state of a ClusterVectorSidecar with a revision that started after workloads had failed.
	// failures may be nil, if they are unknown.
	inWave := func(failures *PriorFailures, change func(*Rollout)) *Rollout {
		return at(0, func(s *Rollout) {
			s.ClusterName, s.PriorFailures, s.Status.StartTime = "logs", failures, &metav1.Time{Time: now}
			change(s)
		})
	}
	for name, test := range map[string]struct {
		rollout *Rollout
		want    bool
	}{
		"the spec changed after the revision started":      {at(1, unchanged), true},
		"the revision started with the spec":               {at(2, unchanged), false},
		"some had failed before":                           {at(0, unchanged), true},
		"the revision started while the spec was reverted": {at(-2, unchanged), true},
		"the revision is new":                              {at(1, func(s *Rollout) { s.IsNew = true }), false},
		"the previous revision fails, too":                 {at(2, func(s *Rollout) { s.Status.Revision, s.Status.RevertedFrom = "old", "new" }), true},
		"another revision was reverted":                    {at(2, func(s *Rollout) { s.Status.RevertedFrom = "older" }), false},

		"the wave has no state yet":                    {at(0, func(s *Rollout) { s.ClusterName, s.Status.Revision = "logs", "" }), false},
		"the wave started with the spec":               {inWave(&PriorFailures{Generation: 2}, unchanged), false},
		"the wave started before the spec":             {inWave(&PriorFailures{Generation: 1}, unchanged), true},
		"the earlier failures of the wave are unknown": {inWave(nil, unchanged), false},
		"failures of the wave no longer count":         {inWave(nil, func(s *Rollout) { s.Status.CompletionTime, s.Status.StartTime = &metav1.Time{Time: now}, nil }), true},
		"the wave waits for another revision":          {inWave(nil, func(s *Rollout) { s.Target.Revision = "next" }), true},
		"the wave was reverted from the revision":      {inWave(nil, func(s *Rollout) { s.Status.RevertedFrom = "new" }), true},
	} {
		sidecar := objects.NewVectorSidecar("logs", "shop").Build()
		sidecar.Generation = 2
		require.Equal(t, test.want, test.rollout.IsCausedBySpec(sidecar, now), name)
	}
}
