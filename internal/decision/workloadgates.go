// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"fmt"
	"time"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/preflight"
)

// The gates of a workload decide whether it gets the injection or update that package plan has chosen. A gate returns
// nil to allow the change. The lists, and the gates in a list, are in the order of their evaluation, and the first
// block applies. No gate applies to removals, records and adoptions.
var (
	// policyGates depend only on the workload, its sidecar and the namespace. Their result is part of an Evaluated.
	policyGates = []func(e *evaluation, g *gateInput) *plan.Block{
		blockByApplicationPolicy,
		blockByCleanupPolicy,
		blockByPodSecurity,
		blockByUserRange,
	}
	// ownerGates depend on the controller owner.
	ownerGates = []func(e *evaluation, g *gateInput) *plan.Block{
		blockByAdmission,
		blockByOwnerRemoval,
	}
	// changeGates depend on the rollout mode, on earlier writes and on other workloads.
	changeGates = []func(e *evaluation, g *gateInput) *plan.Block{
		blockByMode,
		blockByCorrectionLoop,
		blockByNodePort,
	}
	// checkGates depend on the results of checks by Vector and by the API server.
	checkGates = []func(e *evaluation, g *gateInput) *plan.Block{
		blockByInvalidConfig,
		blockByValidation,
		blockByValidator,
		blockByDryRun,
	}
)

// findBlock returns the first block of the gates for a plan, or nil if the workload gets its change.
func findBlock(gates []func(e *evaluation, g *gateInput) *plan.Block, e *evaluation, g *gateInput) *plan.Block {
	if !g.plan.HasChange(plan.Inject, plan.Update) {
		return nil
	}
	for _, gate := range gates {
		if block := gate(e, g); block != nil {
			return block
		}
	}
	return nil
}

// obstacle returns the block of a workload that waits until a user changes something.
func obstacle(reason, message string) *plan.Block {
	return &plan.Block{Kind: plan.BlockedByObstacle, Reason: reason, Message: message}
}

// violationBlock returns the block of a sidecar that violates a policy with an error. It returns nil without an error.
func violationBlock(reason string, err error) *plan.Block {
	if err == nil {
		return nil
	}
	return obstacle(reason, err.Error())
}

// blockByApplicationPolicy blocks a sidecar with volumes or variables of the application that the policy does not allow.
func blockByApplicationPolicy(e *evaluation, g *gateInput) *plan.Block {
	return violationBlock(meta.ReasonPolicyViolation, e.Platform.Policy.CheckApplication(g.view, &g.rendered.Overlay.Template))
}

// blockByCleanupPolicy blocks a sidecar that deletes files in volumes where the policy does not allow it.
func blockByCleanupPolicy(e *evaluation, g *gateInput) *plan.Block {
	return violationBlock(meta.ReasonPolicyViolation, e.Platform.Policy.CheckCleanup(g.view, g.rendered.Cleans()))
}

// blockByPodSecurity blocks a sidecar if the API server would reject the pods because of the namespace's pod security
// level.
func blockByPodSecurity(e *evaluation, g *gateInput) *plan.Block {
	return violationBlock(meta.ReasonPodSecurity, e.Platform.Policy.Admit(e.NamespaceLabels, g.view.Application(), &g.rendered.Overlay.Template))
}

// blockByUserRange blocks a sidecar if the API server would reject the pods because of the namespace's range of users.
func blockByUserRange(e *evaluation, g *gateInput) *plan.Block {
	return violationBlock(meta.ReasonUserOutOfRange, e.NamespaceUsers.Admit(g.view.Application(), &g.rendered.Overlay.Template))
}

// blockByAdmission blocks writes to a workload with a controller owner if spec.ownedWorkloads is AtAdmission, because the
// API server injects the sidecar when the owner writes the workload.
func blockByAdmission(e *evaluation, g *gateInput) *plan.Block {
	owner := g.plan.Owner
	if owner == nil || e.Sidecar.Spec.Owned() != v1alpha1.OwnedAtAdmission {
		return nil
	}
	if reason := e.admissionBlocker(g.plan); reason != "" {
		return &plan.Block{
			Kind: plan.BlockedByExclusion, Reason: meta.ReasonOwnedBy,
			Message: fmt.Sprintf("%s owns the workload, spec.ownedWorkloads is AtAdmission, and the API server does not inject the sidecar: %s", owner, reason),
		}
	}
	return &plan.Block{Kind: plan.BlockedByAdmission, Reason: meta.ReasonOwnedBy, Message: fmt.Sprintf(
		"%s owns the workload: the API server injects the sidecar with the owner's next change of the pod template, if it can evaluate the workload (spec.ownedWorkloads is AtAdmission)", owner)}
}

// blockByOwnerRemoval blocks changes of a workload with a controller owner, if an owner of this kind has removed the
// sidecar from a workload and so would remove it again.
func blockByOwnerRemoval(e *evaluation, g *gateInput) *plan.Block {
	p := g.plan
	if g.removal == nil || p.Existing.HasSidecar && !e.isRemovedByOwner(p, g.view.Generation) {
		return nil
	}
	return &plan.Block{Kind: plan.BlockedByOwnerRemoval, Reason: meta.ReasonRemovedByOwner, Message: e.ownerRemovalText(p, g.removal)}
}

// blockByMode blocks changes that wait for spec.rollout.mode. A new wait is recorded on the workload.
func blockByMode(e *evaluation, g *gateInput) *plan.Block {
	if g.wait == nil || g.hasMaxAgeExpired(e.Now) {
		return nil
	}
	end, expiry := g.mode.waitEnd(g.wait.StartedAt), ""
	if !end.IsZero() {
		expiry = "; otherwise the wait ends at " + end.UTC().Format(time.RFC3339) + " (spec.rollout.maxAge)"
	}
	block := &plan.Block{Kind: plan.BlockedByMode, Until: end}
	block.Reason, block.Message = g.mode.describeWait(e, g.plan, expiry)
	if !g.isWaitRecorded && !e.Now.IsZero() {
		block.Record = plan.NewWaitRecord(g.plan.Manager, *g.wait, g.view)
	}
	return block
}

// hasMaxAgeExpired reports whether the change has waited for spec.rollout.maxAge.
func (g *gateInput) hasMaxAgeExpired(now time.Time) bool {
	if g.wait == nil || !g.plan.HasChange(plan.Inject, plan.Update) {
		return false
	}
	end := g.mode.waitEnd(g.wait.StartedAt)
	return !end.IsZero() && !end.After(now)
}

// blockByCorrectionLoop blocks a sidecar that another client keeps reverting.
func blockByCorrectionLoop(e *evaluation, g *gateInput) *plan.Block {
	loop, ok := e.CorrectionLoops[g.plan.Target.UID]
	if !ok || loop.InjectedHash != g.plan.InjectedHash() {
		return nil
	}
	return obstacle(meta.ReasonCorrectionLoop, fmt.Sprintf("another client removed or changed the sidecar after each of %d writes (last recorded writer: %q); stop that client, or annotate the workload with %s: \"false\"",
		loop.Writes, g.view.LastWriter, meta.AnnotationInject))
}

// blockByNodePort blocks a sidecar with which two workloads would listen on the same port of the same nodes, because the
// pods of one of them would not start. The block ends after an interval, because a change of a workload in another
// namespace may not cause an event for the VectorSidecar.
func blockByNodePort(e *evaluation, g *gateInput) *plan.Block {
	for _, port := range g.ports {
		if user, container := e.portUser(g, port); container != "" {
			block := obstacle(meta.ReasonBlocked, fmt.Sprintf("port %d of the node is used by container %q of %s %s/%s, which runs on the same nodes; use another port for the sidecar, or separate the workloads with nodeSelector",
				port.Port, container, user.Kind, user.Namespace, user.Name))
			block.Until = e.Now.Add(nodePortsInterval)
			return block
		}
	}
	return nil
}

// blockByInvalidConfig blocks a sidecar with a configuration that Vector rejected.
func blockByInvalidConfig(e *evaluation, g *gateInput) *plan.Block {
	verdict := e.verdict(g.rendered)
	if verdict.State != VerdictInvalid {
		return nil
	}
	return &plan.Block{Kind: plan.BlockedByInvalidConfig, Reason: meta.ReasonInvalidConfig, Message: "vector validate: " + verdict.Message}
}

// blockByValidation blocks a write until Vector has checked the configuration.
func blockByValidation(e *evaluation, g *gateInput) *plan.Block {
	if e.verdict(g.rendered).State != VerdictPending {
		return nil
	}
	validation := g.rendered.Validation
	return &plan.Block{
		Kind: plan.BlockedByValidation, Reason: meta.ReasonValidating,
		Message: fmt.Sprintf("waiting until Vector has checked the configuration in Job %s, except %s", validation.Job.Name, validation.Mode.Unchecked),
	}
}

// blockByValidator blocks a write if Vector could not check the configuration, and sidecar.config.validateJob.whenUnable is
// Wait.
func blockByValidator(e *evaluation, g *gateInput) *plan.Block {
	verdict := e.verdict(g.rendered)
	if verdict.State != VerdictUnable || !g.rendered.Validation.WaitsWhenUnable {
		return nil
	}
	return &plan.Block{Kind: plan.BlockedByValidator, Reason: meta.ReasonNotValidated, Message: "Vector could not check the configuration: " + verdict.Message}
}

// blockByDryRun blocks a write that was rejected in dry runs, until the dry runs are due again.
func blockByDryRun(e *evaluation, g *gateInput) *plan.Block {
	result, ok := preflight.FindResult(e.DryRuns, g.plan)
	if !ok || !result.IsRejected() {
		return nil
	}
	block := &plan.Block{Kind: plan.BlockedByObstacle, Reason: meta.ReasonPreflightRejected, Message: result.Message, Until: result.Expiry}
	if result.Result == preflight.RejectedAnyway {
		block.Kind, block.Reason = plan.BlockedByExclusion, meta.ReasonApplicationRejected
	}
	return block
}
