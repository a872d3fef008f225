// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"fmt"
	"slices"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Competitor is a preceding VectorSidecar that selects the same workload.
type Competitor struct {
	// Name is the name of the VectorSidecar. Container is the name of its sidecar's container.
	Name, Container string
	// Wants is the sidecar that the VectorSidecar is about to inject. It is nil if it does not inject one, or if the
	// workload already has its sidecar.
	Wants *plan.Desired
	// IsFirst is true for a VectorSidecar of the namespace that supersedes a ClusterVectorSidecar, even if the workload
	// already has the sidecar of the ClusterVectorSidecar.
	IsFirst bool
}

// manager returns the field manager of the VectorSidecar.
func (f *Facts) manager() string { return meta.Manager(f.Sidecar.Name) }

// EvaluateRemoval evaluates a workload that should not have the sidecar.
func (f *Facts) EvaluateRemoval(view *workload.View) *Evaluated {
	return &Evaluated{Plan: plan.ForRemoval(f.manager(), view)}
}

// EvaluateUnread evaluates a workload that should have the sidecar but has fields that could not be decoded.
func (f *Facts) EvaluateUnread(view *workload.View) *Evaluated {
	return &Evaluated{Plan: f.plan(nil, "", nil, view)}
}

// EvaluateInjection evaluates a workload that should have the sidecar. container is the name of the sidecar's
// container. The competitors are the preceding VectorSidecars, sorted by precedence.
func (f *Facts) EvaluateInjection(desiredWorkload desired.Workload, container string, competitors []Competitor, view *workload.View) *Evaluated {
	if invalid := desiredWorkload.Invalid; invalid != nil {
		return &Evaluated{Plan: plan.ForBlocked(f.manager(), view, plan.Block{Kind: plan.BlockedByObstacle, Reason: invalid.Reason, Message: invalid.Message}), Rendered: desiredWorkload.Rendered}
	}
	p := f.plan(desiredWorkload.Desired, container, competitors, view)
	p = p.WithBlock(findBlock(policyGates, &gateInput{facts: f, plan: &p, view: view, rendered: desiredWorkload.Rendered}))
	if p.Desired != nil {
		p.Warning = desiredWorkload.Warnings(f.manager(), f.Unserved, view)
	}
	evaluated, owned := &Evaluated{Rendered: desiredWorkload.Rendered, Companions: desiredWorkload.Rendered.Companions, Copied: desiredWorkload.Rendered.Copied}, view.Owned[p.Manager]
	switch {
	case p.Existing.UnchangedHash != "":
		evaluated.KeptConfigMaps = owned.ConfigMaps()
		f.dropCompanions(evaluated, owned.ConfigVersion())
	case p.HasChange(plan.Update) && f.Sidecar.Spec.RolloutMode() != v1alpha1.ModeImmediate:
		evaluated.KeptConfigMaps = owned.ConfigMaps()
		p.Write.AtOnce = p.Write.AtOnce || f.hasLostCurrentConfigMap(evaluated, p.Desired)
	}
	evaluated.Plan = p
	return evaluated
}

// plan plans one workload in competition with preceding VectorSidecars. Sidecars that the workload already has stay. Of
// new sidecars, the sidecar of the oldest VectorSidecar takes precedence, even if another one is written first.
func (f *Facts) plan(desiredSidecar *plan.Desired, container string, competitors []Competitor, view *workload.View) plan.Plan {
	spec := &f.Sidecar.Spec
	policy := plan.Policy{
		StrictOrder: spec.StrictOrder,
		HostNetwork: spec.HostNetwork == v1alpha1.HostNetworkInject,
		SkipsOwned:  spec.Owned() == v1alpha1.OwnedSkip,
		ReportDrift: spec.DriftPolicy == v1alpha1.DriftReport,
		Defers:      spec.RolloutMode() != v1alpha1.ModeImmediate,
		Manifests:   f.Manifests,
		Texts:       &f.texts,
	}
	for i := range competitors {
		if competitor := &competitors[i]; competitor.IsFirst && competitor.Container == container {
			policy.Superseded = meta.Title(competitor.Name) + " of the namespace injects a container of the same name, and takes precedence"
			return plan.ForInjection(f.manager(), desiredSidecar, policy, view)
		}
	}
	p := plan.ForInjection(f.manager(), desiredSidecar, policy, view)
	if p.Existing.UnchangedHash != "" && f.hasLostConfigMap(f.manager(), desiredSidecar, view) {
		policy.Renew = true
		p = plan.ForInjection(f.manager(), desiredSidecar, policy, view)
	}
	p = p.WithBlock(f.removalBlock(&p, container, competitors, view))
	if len(competitors) == 0 || p.Action() == plan.ActionBlocked || p.Change == plan.Remove || view.Owned[f.manager()].HasPlainAnnotations {
		return p
	}
	if block := f.competitorBlock(&p, container, competitors); block != nil {
		p.Desired = nil
		return p.WithBlock(block)
	}
	expected := *view
	for _, competitor := range competitors {
		if competitor.Wants != nil {
			expected, policy.Second = competitor.Wants.Expect(meta.Manager(competitor.Name), &expected), true
		}
	}
	if !policy.Second {
		return p
	}
	if !p.Existing.IsOwned {
		if expectedPlan := plan.ForInjection(f.manager(), desiredSidecar, policy, &expected); !expectedPlan.HasChange(plan.Inject) {
			if block := expectedPlan.Block; block != nil { // The workload does not have the conflicting item yet.
				expectedPlan.Block = &plan.Block{Kind: block.Kind, Reason: block.Reason, Message: block.Message}
			}
			return expectedPlan
		}
	}
	return plan.ForInjection(f.manager(), desiredSidecar.OmitOptional(f.manager(), &expected), policy, view)
}

// precedenceText explains why a competitor takes precedence over this VectorSidecar, as a predicate such as "is older".
func (f *Facts) precedenceText(competitor *Competitor) string {
	if _, isCluster := meta.ParseClusterName(competitor.Name); isCluster && f.Sidecar.Cluster == nil {
		return "takes precedence over this VectorSidecar (spec.takesPrecedenceOver)"
	}
	return "is older"
}

// competitorBlock returns the block of the first injection of a container, if a preceding VectorSidecar injects a container
// of the same name. It returns nil for none. The caller does not apply it to removals.
func (f *Facts) competitorBlock(p *plan.Plan, container string, competitors []Competitor) *plan.Block {
	i := slices.IndexFunc(competitors, func(competitor Competitor) bool { return competitor.Container == container })
	if i < 0 || p.Existing.IsOwned {
		return nil
	}
	return &plan.Block{
		Kind: plan.BlockedByConflict, Reason: meta.ReasonConflict, Competitor: competitors[i].Name,
		Message: fmt.Sprintf("%s, which %s, injects a container of the same name; set another name in spec.sidecar.name of one of them",
			meta.Title(competitors[i].Name), f.precedenceText(&competitors[i])),
	}
}

// removalBlock returns the block that replaces a conflict with a ClusterVectorSidecar that is about to remove its container
// of the same name. It returns nil for any other plan, also for a removal.
func (f *Facts) removalBlock(p *plan.Plan, container string, competitors []Competitor, view *workload.View) *plan.Block {
	_, isCluster := meta.ParseClusterName(p.Competitor())
	isRefused := slices.ContainsFunc(competitors, func(competitor Competitor) bool { return competitor.Name == p.Competitor() })
	if f.Sidecar.Cluster != nil || !p.IsBlockedBy(plan.BlockedByConflict) || !isCluster || isRefused || !slices.Contains(view.Owned[meta.Manager(p.Competitor())].Containers, container) {
		return nil
	}
	return &plan.Block{Kind: plan.BlockedByRemoval, Reason: meta.ReasonWaitingForRemoval, Message: fmt.Sprintf("waiting until %s removes its container of the same name", meta.Title(p.Competitor()))}
}
