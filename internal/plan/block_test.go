// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A change that waits for a slot, or for a retry after a rejection, counts as a change. A change that does not happen
// because of a conflict, an opt-out or a mode does not count.
func TestHasChange_ExcludesReplacedChange(t *testing.T) {
	for name, test := range map[string]struct {
		block  *Block
		has    bool
		action string
	}{
		"no block":              {nil, true, "Update"},
		"a rollout slot":        {&Block{Kind: BlockedBySlot}, true, "Update"},
		"a rejected write":      {&Block{Kind: BlockedByRejection}, true, "Update"},
		"the mode":              {&Block{Kind: BlockedByMode}, false, ActionDefer},
		"admission injection":   {&Block{Kind: BlockedByAdmission}, false, ActionDefer},
		"other field managers":  {&Block{Kind: BlockedByConflict}, false, ActionConflict},
		"a removal of another":  {&Block{Kind: BlockedByRemoval}, false, ActionConflict},
		"an opt-out":            {&Block{Kind: BlockedByOptOut}, false, ActionBlocked},
		"an obstacle":           {&Block{Kind: BlockedByObstacle}, false, ActionBlocked},
		"a removal by an owner": {&Block{Kind: BlockedByOwnerRemoval}, false, ActionBlocked},
	} {
		t.Run(name, func(t *testing.T) {
			p := Plan{Change: Update, Block: test.block}
			require.Equal(t, test.has, p.HasChange(Update))
			require.Equal(t, test.has, p.StartsPods())
			require.False(t, p.HasChange(Inject, Remove))
			require.Equal(t, test.action, p.Action())
			p.Change = None
			require.Equal(t, test.has, p.IsCurrent())
		})
	}
}

// A blocked injection can still write annotations of the workload, such as the start of its wait. While writes are on
// hold, it does not.
func TestWrites_IncludesAnnotationsOfBlockedPlan(t *testing.T) {
	record := map[string]any{"metadata": map[string]any{}}
	p := Plan{Change: Inject, Block: &Block{Kind: BlockedByMode, Record: record}}
	require.True(t, p.Writes())
	require.Equal(t, record, p.Body())
	shared := p.Block

	require.True(t, Admit([]Plan{p}, Limit{})[0].Writes(), "a record is written at once")
	onHold := Admit([]Plan{p}, Limit{WriteHold: StopBlock("stopped")})[0]
	require.False(t, onHold.Writes(), "a hold keeps the record for later")
	require.True(t, onHold.IsBlockedBy(BlockedByMode))
	require.NotNil(t, shared.Record, "plans share blocks")
}
