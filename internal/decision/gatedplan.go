// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
)

// newGateInput returns the input of the gates of a workload. Its plan injects or updates the sidecar.
func (d *Decision) newGateInput(facts *Facts, w *Workload, p plan.Plan) *gateInput {
	view := w.Record.View()
	input := &gateInput{facts: facts, plan: &p, view: &view, rendered: w.Evaluated.Rendered, workload: w, mode: d.mode, claims: d.claims}
	if p.Owner != nil {
		input.removal = d.ownerRemovalFor(&p)
	}
	if d.mode != nil {
		input.wait, input.isWaitRecorded = d.mode.waitFor(facts, &p)
	}
	if p.Target.Adapter().Traits.OnEveryNode {
		input.ports = p.NodePorts(input.view)
	}
	return input
}

// gatedPlan returns the plan with the first block of its gates, and with the texts that depend on it. It also returns
// that block, or nil for none.
func (input *gateInput) gatedPlan() (plan.Plan, *plan.Block) {
	p, block := *input.plan, findBlock(ownerGates, input)
	if block == nil {
		p.OwnerNotice, p.MaxAgeExpired = input.ownerNotice(), input.hasMaxAgeExpired()
		block = findBlock(changeGates, input)
	}
	p = p.WithBlock(block)
	p.Warning = input.facts.warning(&p, input.rendered)
	if block == nil {
		block = findBlock(checkGates, input)
	}
	if block != nil && block.Kind == plan.BlockedByInvalidConfig { // The workload should not have the sidecar.
		return plan.ForBlocked(p.Manager, input.view, *block), block
	}
	return p.WithBlock(block), block
}
