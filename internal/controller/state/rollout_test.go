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
	asIs := func(*Rollout) {}
	// part returns the wave state of a ClusterVectorSidecar with a revision that started after workloads had failed.
	// The generation at that time may be known.
	part := func(known *PriorFailures, change func(*Rollout)) *Rollout {
		return at(0, func(s *Rollout) {
			s.ClusterName, s.PriorFailures, s.Status.StartTime = "logs", known, &metav1.Time{Time: now}
			change(s)
		})
	}
	for name, test := range map[string]struct {
		rollout *Rollout
		want    bool
	}{
		"the spec has changed since":      {at(1, asIs), true},
		"the revision came with it":       {at(2, asIs), false},
		"some had failed before":          {at(0, asIs), true},
		"it came while it was reverted":   {at(-2, asIs), true},
		"it has just come":                {at(1, func(s *Rollout) { s.IsNew = true }), false},
		"it fails with the one before it": {at(2, func(s *Rollout) { s.Status.Revision, s.Status.RevertedFrom = "old", "new" }), true},
		"it was reverted from another":    {at(2, func(s *Rollout) { s.Status.RevertedFrom = "older" }), false},

		"a wave that has not been looked at":          {at(0, func(s *Rollout) { s.ClusterName, s.Status.Revision = "logs", "" }), false},
		"a part that came with the spec":              {part(&PriorFailures{Generation: 2}, asIs), false},
		"a part that came before it":                  {part(&PriorFailures{Generation: 1}, asIs), true},
		"a part of which nobody knows that":           {part(nil, asIs), false},
		"a part that is not watched any more":         {part(nil, func(s *Rollout) { s.Status.CompletionTime, s.Status.StartTime = &metav1.Time{Time: now}, nil }), true},
		"a part that waits for another revision":      {part(nil, func(s *Rollout) { s.Target.Revision = "next" }), true},
		"a part that was reverted from the given one": {part(nil, func(s *Rollout) { s.Status.RevertedFrom = "new" }), true},
	} {
		sidecar := objects.NewVectorSidecar("logs", "shop").Build()
		sidecar.Generation = 2
		require.Equal(t, test.want, test.rollout.IsCausedBySpec(sidecar, now), name)
	}
}
