// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"fmt"
	"slices"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// competitor is a preceding VectorSidecar that selects the same workload.
type competitor struct {
	// name is the name of the VectorSidecar. container is the name of its sidecar's container.
	name, container string
	// pending is the sidecar that the VectorSidecar is about to inject. It is nil if it does not inject one, or if the
	// workload already has its sidecar.
	pending *plan.Desired
	// supersedes is true for a VectorSidecar of the namespace that supersedes a ClusterVectorSidecar, even if the workload
	// already has the sidecar of the ClusterVectorSidecar.
	supersedes bool
}

// plan plans one workload in competition with preceding VectorSidecars. Sidecars that the workload already has stay. Of
// new sidecars, the sidecar of the oldest VectorSidecar takes precedence, even if another one is written first.
func (e *evaluation) plan(desiredSidecar *plan.Desired, container string, competitors []competitor, view *workload.View) plan.Plan {
	manager, spec := e.manager(), &e.Sidecar.Spec
	policy := plan.Policy{
		StrictOrder: spec.StrictOrder,
		HostNetwork: spec.HostNetwork == v1alpha1.HostNetworkInject,
		SkipsOwned:  spec.Owned() == v1alpha1.OwnedSkip,
		ReportDrift: spec.DriftPolicy == v1alpha1.DriftReport,
		Defers:      spec.RolloutMode() != v1alpha1.ModeImmediate,
		Manifests:   e.Manifests,
		Texts:       &e.texts,
	}
	for _, competitor := range competitors {
		if competitor.supersedes && competitor.container == container {
			policy.Superseded = meta.Title(competitor.name) + " of the namespace injects a container of the same name, and takes precedence"
			return plan.ForInjection(manager, desiredSidecar, policy, view)
		}
	}
	p := plan.ForInjection(manager, desiredSidecar, policy, view)
	if p.Existing.UnchangedHash != "" && e.hasLostConfigMap(manager, desiredSidecar, view) {
		policy.Renew = true
		p = plan.ForInjection(manager, desiredSidecar, policy, view)
	}
	p = p.WithBlock(e.removalBlock(&p, container, competitors, view))
	if len(competitors) == 0 || p.Action() == plan.ActionBlocked || p.Change == plan.Remove || view.Owned[manager].HasPlainAnnotations {
		return p
	}
	if block := e.competitorBlock(&p, container, competitors); block != nil {
		p.Desired = nil
		return p.WithBlock(block)
	}
	expected := *view
	for _, competitor := range competitors {
		if competitor.pending != nil {
			expected, policy.Second = competitor.pending.Expect(meta.Manager(competitor.name), &expected), true
		}
	}
	if !policy.Second {
		return p
	}
	if !p.Existing.IsOwned {
		if expectedPlan := plan.ForInjection(manager, desiredSidecar, policy, &expected); !expectedPlan.HasChange(plan.Inject) {
			if block := expectedPlan.Block; block != nil { // The workload does not have the conflicting item yet.
				expectedPlan.Block = &plan.Block{Kind: block.Kind, Reason: block.Reason, Message: block.Message}
			}
			return expectedPlan
		}
	}
	return plan.ForInjection(manager, desiredSidecar.OmitOptional(manager, &expected), policy, view)
}

// precedenceText explains why a competitor takes precedence over this VectorSidecar, as a predicate such as "is older".
func (input *Input) precedenceText(competitor string) string {
	if meta.IsOfCluster(competitor) && !meta.IsOfCluster(input.Sidecar.Name) {
		return "takes precedence over this VectorSidecar (spec.takesPrecedenceOver)"
	}
	return "is older"
}

// competitorBlock returns the block of the first injection of a container, if a preceding VectorSidecar injects a container
// of the same name. It returns nil for none. The caller does not apply it to removals.
func (input *Input) competitorBlock(p *plan.Plan, container string, competitors []competitor) *plan.Block {
	i := slices.IndexFunc(competitors, func(c competitor) bool { return c.container == container })
	if i < 0 || p.Existing.IsOwned {
		return nil
	}
	return &plan.Block{
		Kind: plan.BlockedByConflict, Reason: meta.ReasonConflict, Competitor: competitors[i].name,
		Message: fmt.Sprintf("%s, which %s, injects a container of the same name; set another name in spec.sidecar.name of one of them",
			meta.Title(competitors[i].name), input.precedenceText(competitors[i].name)),
	}
}

// removalBlock returns the block of a plan that conflicts with a ClusterVectorSidecar which is about to remove its container
// of the same name. It returns nil for all other plans, also for removals.
func (input *Input) removalBlock(p *plan.Plan, container string, competitors []competitor, view *workload.View) *plan.Block {
	isCompetitor := slices.ContainsFunc(competitors, func(c competitor) bool { return c.name == p.Competitor() })
	if meta.IsOfCluster(input.Sidecar.Name) || !p.IsBlockedBy(plan.BlockedByConflict) || !meta.IsOfCluster(p.Competitor()) || isCompetitor || !slices.Contains(view.Owned[meta.Manager(p.Competitor())].Containers, container) {
		return nil
	}
	return &plan.Block{Kind: plan.BlockedByRemoval, Reason: meta.ReasonWaitingForRemoval, Message: fmt.Sprintf("waiting until %s removes its container of the same name", meta.Title(p.Competitor()))}
}
