// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"testing"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

func TestCompetitorBlock_BlocksFirstInjections(t *testing.T) {
	for name, test := range map[string]struct {
		existing  plan.Existing
		container string
		want      plan.BlockKind
	}{
		"the same container":  {plan.Existing{}, "vector", plan.BlockedByConflict},
		"another container":   {plan.Existing{}, "agent", ""},
		"the workload has it": {plan.Existing{IsOwned: true}, "vector", ""},
	} {
		t.Run(name, func(t *testing.T) {
			e, p := &evaluation{Input: inputAt(noon)}, plan.Plan{Change: plan.Inject, Existing: test.existing}
			block := e.competitorBlock(&p, test.container, []competitor{{name: "first", container: "other"}, {name: "older", container: "vector"}})
			requireBlock(t, test.want, block)
			if block != nil {
				require.Equal(t, "older", block.Competitor)
			}
		})
	}
}

func TestRemovalBlock_WaitsForClusterVectorSidecar(t *testing.T) {
	cluster := meta.ClusterSidecarName("all")
	conflict := func(competitor string) plan.Plan {
		return plan.Plan{Change: plan.None, Block: &plan.Block{Kind: plan.BlockedByConflict, Competitor: competitor}}
	}
	for name, test := range map[string]struct {
		p           plan.Plan
		isCluster   bool
		competitors []competitor
		container   string
		want        plan.BlockKind
	}{
		"it leaves":                  {conflict(cluster), false, nil, "vector", plan.BlockedByRemoval},
		"it takes precedence":        {conflict(cluster), false, []competitor{{name: cluster}}, "vector", ""},
		"it has another container":   {conflict(cluster), false, nil, "agent", ""},
		"of another kind":            {conflict("older"), false, nil, "vector", ""},
		"for a ClusterVectorSidecar": {conflict(cluster), true, nil, "vector", ""},
		"without a conflict":         {plan.Plan{Change: plan.Inject}, false, nil, "vector", ""},
		"a removal":                  {plan.Plan{Change: plan.Remove}, false, nil, "vector", ""},
	} {
		t.Run(name, func(t *testing.T) {
			e, view := &evaluation{Input: inputAt(noon)}, &workload.View{}
			if test.isCluster {
				e.Sidecar.Name = meta.ClusterSidecarName(e.Sidecar.Name)
			}
			view.Owned = map[string]workload.OwnedFields{meta.Manager(cluster): {Containers: []string{"vector"}}}
			requireBlock(t, test.want, e.removalBlock(&test.p, test.container, test.competitors, view))
		})
	}
}

// requireBlock requires a block of a kind, or none if the kind is "".
func requireBlock(t *testing.T, want plan.BlockKind, block *plan.Block) {
	t.Helper()
	if want == "" {
		require.Nil(t, block)
		return
	}
	require.NotNil(t, block)
	require.Equal(t, want, block.Kind)
}
