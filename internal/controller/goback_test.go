// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

func TestAFailureIsTheOwnersOrTheInstallations(t *testing.T) {
	at := func(generation int64, change func(*stage)) *stage {
		of := &stage{given: fleet.Given{Revision: "new"}}
		of.Status = v1alpha1.RolloutStatus{Revision: "new", Generation: generation}
		change(of)
		return of
	}
	asIs := func(*stage) {}
	for name, test := range map[string]struct {
		staged *stage
		want   bool
	}{
		"no waves":                        {nil, true},
		"the spec has changed since":      {at(1, asIs), true},
		"the revision came with it":       {at(2, asIs), false},
		"some had failed before":          {at(0, asIs), true},
		"it came while it was reverted":   {at(-2, asIs), true},
		"it has just come":                {at(1, func(s *stage) { s.IsNew = true }), false},
		"it fails with the one before it": {at(2, func(s *stage) { s.Status.Revision, s.Status.RevertedFrom = "old", "new" }), true},
		"it was reverted from another":    {at(2, func(s *stage) { s.Status.RevertedFrom = "older" }), false},
	} {
		sidecar := objects.NewVectorSidecar("logs", "shop").Build()
		sidecar.Generation = 2
		require.Equal(t, test.want, test.staged.isOwners(sidecar), name)
	}
}

// What is rendered is another one, which others may be in the way of.
func TestOthersHearThatASpecIsReverted(t *testing.T) {
	before := objects.NewVectorSidecar("logs", "shop").Build()
	after := before.DeepCopy()
	update := func() bool { return laterChanges().Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after}) }
	require.False(t, update())
	after.Status.LastGood = &v1alpha1.LastGoodSpec{Digest: lastgood.Digest(&after.Spec)}
	require.False(t, update(), "that one is kept changes nothing")
	after.Status.Reverted = &v1alpha1.RevertedSpec{Digest: lastgood.Digest(&after.Spec)}
	require.True(t, update())
	before, after = after, before
	require.True(t, update())
}
