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
	// Wants is the sidecar that the VectorSidecar is about to inject, or nil for none. It is also nil if the workload
	// already has a sidecar of the VectorSidecar.
	Wants *plan.Desired
	// IsFirst is true for a VectorSidecar of the namespace that supersedes a ClusterVectorSidecar, even if the workload
	// already has the sidecar of the ClusterVectorSidecar.
	IsFirst bool
}

// Evaluator evaluates workloads one after the other. NewEvaluator creates it.
type Evaluator struct {
	facts   *Facts
	manager string
	// texts are shared by the plans.
	texts plan.Texts
}

// NewEvaluator returns an Evaluator for the VectorSidecar of the facts.
func NewEvaluator(facts *Facts) *Evaluator {
	return &Evaluator{facts: facts, manager: meta.Manager(facts.Sidecar.Name)}
}

// Removal evaluates a workload that should not have the sidecar.
func (e *Evaluator) Removal(view *workload.View) *Evaluated {
	return &Evaluated{Plan: plan.ForRemoval(e.manager, view)}
}

// Unread evaluates a workload that should have the sidecar but has fields that could not be decoded.
func (e *Evaluator) Unread(view *workload.View) *Evaluated {
	return &Evaluated{Plan: e.plan(nil, "", nil, view)}
}

// Injection evaluates a workload that should have the sidecar. The container is the sidecar's. The competitors are the
// preceding VectorSidecars, sorted by precedence.
func (e *Evaluator) Injection(desiredWorkload desired.Workload, container string, competitors []Competitor, view *workload.View) *Evaluated {
	if invalid := desiredWorkload.Invalid; invalid != nil {
		return &Evaluated{Plan: plan.ForBlocked(e.manager, view, plan.Block{Kind: plan.BlockedByObstacle, Reason: invalid.Reason, Message: invalid.Message}), Rendered: desiredWorkload.Rendered}
	}
	p := e.plan(desiredWorkload.Desired, container, competitors, view)
	e.admit(&p, view, desiredWorkload.Rendered)
	if p.Desired != nil {
		p.Warning = desiredWorkload.Doubts(e.manager, e.facts.Unserved, view)
	}
	evaluated := &Evaluated{Plan: p, Rendered: desiredWorkload.Rendered, Companions: desiredWorkload.Rendered.Companions, Copied: desiredWorkload.Rendered.Copied}
	switch {
	case p.Existing.UnchangedHash != "":
		e.facts.keep(evaluated, view)
	case p.HasChange(plan.Update) && e.facts.Sidecar.Spec.RolloutMode() != v1alpha1.ModeImmediate:
		e.facts.keepMeanwhile(evaluated, view)
	}
	return evaluated
}

// plan plans one workload in competition with preceding VectorSidecars. Sidecars that the workload already has stay. Of
// new sidecars, the sidecar of the oldest VectorSidecar takes precedence, even if another one is written first.
func (e *Evaluator) plan(desiredSidecar *plan.Desired, container string, competitors []Competitor, view *workload.View) plan.Plan {
	spec := &e.facts.Sidecar.Spec
	policy := plan.Policy{
		StrictOrder: spec.StrictOrder,
		HostNetwork: spec.HostNetwork == v1alpha1.HostNetworkInject,
		SkipsOwned:  spec.Owned() == v1alpha1.OwnedSkip,
		ReportDrift: spec.DriftPolicy == v1alpha1.DriftReport,
		Defers:      spec.RolloutMode() != v1alpha1.ModeImmediate,
		Manifests:   e.facts.Manifests,
		Texts:       &e.texts,
	}
	for i := range competitors {
		if competitor := &competitors[i]; competitor.IsFirst && competitor.Container == container {
			policy.Superseded = meta.Title(competitor.Name) + " of the namespace injects a container of the same name, and comes first"
			return plan.ForInjection(e.manager, desiredSidecar, policy, view)
		}
	}
	p := plan.ForInjection(e.manager, desiredSidecar, policy, view)
	if p.Existing.UnchangedHash != "" && e.facts.hasLost(e.manager, desiredSidecar, view) {
		policy.Renew = true
		p = plan.ForInjection(e.manager, desiredSidecar, policy, view)
	}
	e.awaitRoom(&p, container, competitors, view)
	if len(competitors) == 0 || p.Action() == plan.ActionBlocked || p.Change == plan.Remove || view.Owned[e.manager].HasPlainAnnotations {
		return p
	}
	for _, competitor := range competitors {
		if competitor.Container == container && !p.Existing.IsOwned {
			p.Desired = nil
			p.Stop(plan.Block{
				Kind: plan.BlockedByConflict, Reason: meta.ReasonConflict, Competitor: competitor.Name,
				Message: fmt.Sprintf("%s, which %s, injects a container of the same name: give one of them another name in spec.sidecar.name",
					meta.Title(competitor.Name), e.comesBefore(&competitor)),
			})
			return p
		}
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
		if expectedPlan := plan.ForInjection(e.manager, desiredSidecar, policy, &expected); !expectedPlan.HasChange(plan.Inject) {
			if block := expectedPlan.Block; block != nil { // The workload does not have the conflicting item yet.
				expectedPlan.Block = &plan.Block{Kind: block.Kind, Reason: block.Reason, Message: block.Message}
			}
			return expectedPlan
		}
	}
	return plan.ForInjection(e.manager, desiredSidecar.Yielding(e.manager, &expected), policy, view)
}

// comesBefore explains why another VectorSidecar takes precedence over this one.
func (e *Evaluator) comesBefore(competitor *Competitor) string {
	if _, isCluster := meta.ParseClusterName(competitor.Name); isCluster && e.facts.Sidecar.Cluster == nil {
		return "refuses this one by name"
	}
	return "is older"
}

// awaitRoom makes a VectorSidecar wait for a ClusterVectorSidecar that is about to remove its container of the same
// name.
func (e *Evaluator) awaitRoom(p *plan.Plan, container string, competitors []Competitor, view *workload.View) {
	_, isCluster := meta.ParseClusterName(p.Competitor())
	isRefused := slices.ContainsFunc(competitors, func(competitor Competitor) bool { return competitor.Name == p.Competitor() })
	if e.facts.Sidecar.Cluster != nil || !p.IsBlockedBy(plan.BlockedByConflict) || !isCluster || isRefused {
		return
	}
	if slices.Contains(view.Owned[meta.Manager(p.Competitor())].Containers, container) {
		p.Wait(plan.BlockedByRemoval, meta.ReasonWaitingForRemoval, fmt.Sprintf("waiting until %s removes its container of the same name", meta.Title(p.Competitor())))
	}
}

// admit blocks a write that the policy does not allow in this workload. It also blocks a write if the API server would
// reject the pods because of the sidecar.
func (e *Evaluator) admit(p *plan.Plan, view *workload.View, rendered *desired.Rendered) {
	if !p.Writes() || p.Change == plan.Remove || p.IsRecordOnly() {
		return
	}
	rules := e.facts.Platform.Policy
	deny := func(reason string, err error) {
		p.Stop(plan.Block{Kind: plan.BlockedByObstacle, Reason: reason, Message: err.Error()})
	}
	if err := rules.CheckApplication(view, &rendered.Overlay.Template); err != nil {
		deny(meta.ReasonPolicyViolation, err)
	} else if err := rules.CheckCleanup(view, rendered.Cleans()); err != nil {
		deny(meta.ReasonPolicyViolation, err)
	} else if err := rules.Admit(e.facts.NamespaceLabels, view.Application(), &rendered.Overlay.Template); err != nil {
		deny(meta.ReasonPodSecurity, err)
	} else if err := e.facts.NamespaceUsers.Admit(view.Application(), &rendered.Overlay.Template); err != nil {
		deny(meta.ReasonUserOutOfRange, err)
	}
}
