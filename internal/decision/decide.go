// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
)

// Decide returns the decision on the workloads that should have the sidecar (injected) and that should not (removed).
// Both lists are sorted by name. The result depends only on the arguments.
func Decide(facts *Facts, injected, removed []Workload) *Decision {
	d := &Decision{
		BlindHalt: facts.BlindHalt, IsForDeletion: facts.Sidecar.DeletionTimestamp != nil,
		Environment: facts.Desired.Environment, EnvironmentFrom: facts.Desired.EnvironmentFrom, TemplateSet: facts.Desired.TemplateSet,
		ReferencedConfigMap: facts.Desired.ReferencedConfigMap, references: facts.ReadConfigMaps,
		Invalid: facts.Desired.Invalid, Outdated: facts.Desired.Outdated, Matched: facts.Kinds.Total(), Kinds: facts.Kinds,
		Plans: make([]plan.Plan, 0, len(injected)+len(removed)), kept: map[string]bool{},
		Previous: &Previous{Injected: make([]*Evaluated, 0, len(injected))},
	}
	d.addFindings(facts.Findings)
	d.inject(facts, injected)
	isUnproven := d.markCanaries(facts, injected)
	for i := range removed {
		d.remove(facts, &removed[i])
	}
	if len(removed) > 0 { // Without removals, the plans are sorted already.
		slices.SortFunc(d.Plans, func(a, b plan.Plan) int {
			return cmp.Or(strings.Compare(a.Target.Name, b.Target.Name), strings.Compare(a.Target.Kind, b.Target.Kind))
		})
	}
	d.Limit, d.Retry = rolloutLimit(facts, d.Matched), requestedRetry(facts)
	if d.Retry != nil {
		d.Limit.Retried = d.Retry.RetryTime.Time
	}
	if isUnproven {
		d.Limit.Unproven = noEvidenceMessage(facts.Sidecar)
	}
	plan.Admit(d.Plans, d.Limit)
	d.offer(facts)
	d.findMissingCompanions(facts)
	d.findObsoleteCompanions(facts.Companions)
	d.holdWrites(facts)
	return d
}

// inject adds plans for the workloads that should have the sidecar.
func (d *Decision) inject(facts *Facts, workloads []Workload) {
	var failed *desired.Invalid
	var lastRendered *desired.Rendered // The last rendering with companions that were added.
	failures, readsTarget := 0, false
	d.mode = newMode(facts.Sidecar, workloads)
	d.findOwnerRemovals(facts, workloads)
	for i := range workloads {
		w := &workloads[i]
		if !w.Evaluated.isLate() {
			d.Previous.Injected = append(d.Previous.Injected, w.Evaluated)
		}
		if rendered := w.Evaluated.Rendered; rendered != nil {
			d.TimedOut = d.TimedOut || rendered.TimedOut
			if rendered.Invalid != nil && w.Source.IsCommon {
				failed, failures = rendered.Invalid, failures+1
				readsTarget = rendered.FailsForTarget()
			}
		}
		lastRendered = d.add(facts, w, lastRendered)
	}
	// If the rendering is invalid for all workloads, the VectorSidecar has the error, not the workloads.
	if failures > 0 && failures == len(workloads) {
		d.Invalid, d.IsWorkloadSpecific = failed, readsTarget
	}
}

// add adds the plan of an evaluated workload after all gates, and the companions that the plan needs. lastRendered is
// the last rendering with companions that were added, and the result is the new one.
func (d *Decision) add(facts *Facts, w *Workload, lastRendered *desired.Rendered) *desired.Rendered {
	evaluated, rendered := w.Evaluated, w.Evaluated.Rendered
	d.Plans = append(d.Plans, evaluated.Plan)
	p := &d.Plans[len(d.Plans)-1]
	p.Workload = w.Record.State()
	defer d.setRollout(facts, p, w.Started)
	if rendered == nil {
		return lastRendered
	}
	isAnother := lastRendered != rendered
	if isAnother && rendered.Report != nil && !w.Source.ChecksOff {
		d.addFindings(rendered.Report.Findings)
	}
	adjustRecord(p, w)
	d.block(d.newGateInput(facts, p, w))
	for _, name := range evaluated.KeptConfigMaps {
		d.kept[name] = true
	}
	if !isAnother && p.Existing.UnchangedHash == "" || p.Desired == nil || p.IsStopped() || p.IsDeferred() || p.IsWaiting() {
		return lastRendered // The workload neither has nor gets this rendering, or its companions are added already.
	}
	for i := range evaluated.Companions {
		d.addCompanion(&evaluated.Companions[i])
	}
	if evaluated.Copied != nil {
		d.addConfigMapCopy(evaluated.Copied, w.Source.ConfigMap, types.NamespacedName{Namespace: facts.Sidecar.Namespace, Name: facts.Sidecar.Name})
	}
	if p.Existing.UnchangedHash != "" {
		return lastRendered
	}
	return rendered
}

// adjustRecord drops an adoption that the controller owner would undo, and removes the record of a wait that has ended.
func adjustRecord(p *plan.Plan, w *Workload) {
	if p.Owner != nil && p.HasChange(plan.Adopt) && w.HadSidecar {
		// A controller that replaces the whole workload clears the operator's field ownership each time. To adopt the
		// fields again would cause an event for the controller, which would replace the workload again, and so on
		// forever.
		p.Change, p.Write.Apply, p.Write.Cause = plan.None, nil, ""
	}
	if p.HasChange(plan.None) && p.Existing.Waits {
		view := w.Record.View()
		p.Change, p.Write.Apply, p.Write.ReleaseOnly = plan.RecordOnly, plan.NewWaitRemoval(p.Manager, &view), false
	}
}

// block applies all gates to a plan, and adds its validation and its node ports to the decision.
func (d *Decision) block(input *gateInput) {
	p := input.plan
	d.applyGates(ownerGates, input)
	p.OwnerNotice, p.MaxAgeExpired = input.ownerNotice(), input.hasMaxAgeExpired()
	if d.applyGates(changeGates, input); p.IsBlockedBy(plan.BlockedByMode) {
		d.Deferred.add(input.mode, input.wait.StartedAt)
	}
	p.Warning = input.warning()
	if d.applyGates(checkGates, input); p.IsBlockedBy(plan.BlockedByValidation) {
		d.addValidation(input.rendered.Validation)
	}
	if len(input.ports) > 0 && p.HasChange(plan.Inject, plan.Update) { // A rejected sidecar does not listen on its ports.
		d.claims = append(d.claims, input)
	}
}

// newGateInput returns the input of the gates of a plan, before the ownerGates.
func (d *Decision) newGateInput(facts *Facts, p *plan.Plan, w *Workload) *gateInput {
	input := &gateInput{facts: facts, plan: p, rendered: w.Evaluated.Rendered, workload: w, mode: d.mode, claims: d.claims}
	if !p.HasChange(plan.Inject, plan.Update) {
		return input
	}
	view := w.Record.View()
	input.view = &view
	if p.Owner != nil {
		input.removal = d.ownerRemovalFor(p)
	}
	if d.mode != nil {
		input.wait, input.isWaitRecorded = d.mode.waitFor(facts, p)
	}
	if p.Target.Adapter().Traits.OnEveryNode {
		input.ports = p.NodePorts(input.view)
	}
	return input
}

// applyGates sets the first block of the gates on a plan.
func (d *Decision) applyGates(gates []func(input *gateInput) *plan.Block, input *gateInput) {
	block := findBlock(gates, input)
	switch {
	case block == nil:
		return
	case block.Kind == plan.BlockedByInvalidConfig: // The VectorSidecar has the error, and the workload should not have its sidecar.
		d.Invalid = &desired.Invalid{Reason: block.Reason, Message: block.Message}
		*input.plan = plan.ForBlocked(input.plan.Manager, input.view, *block)
	default:
		input.plan.SetBlock(block)
	}
	d.checkAt(input.facts.Now, block.Until)
}

// remove adds the plan for a workload that should not have the sidecar, if a change is necessary or in progress.
func (d *Decision) remove(facts *Facts, w *Workload) {
	d.Previous.Removed = append(d.Previous.Removed, w.Evaluated)
	removal := w.Evaluated.Plan
	if removal.Existing.IsMarked && !removal.Existing.IsOwned && !removal.Existing.Waits && !d.IsForDeletion {
		d.LeavesMarks, removal.Change, removal.Block = true, plan.None, nil
	}
	removal.Workload, removal.Write.Cause = w.Record.State(), removalCause(facts.Sidecar)
	if d.setRollout(facts, &removal, w.Started); removal.Rollout.InFlight || !removal.HasChange(plan.None) {
		d.Plans = append(d.Plans, removal)
	}
}

// removalCause returns the cause of a removal: why a workload should not have the sidecar.
func removalCause(sidecar *v1alpha1.VectorSidecar) string {
	title := meta.Title(sidecar.Name)
	switch {
	case sidecar.Cluster != nil && sidecar.Cluster.IsLeaving:
		return title + " no longer selects the namespace"
	case sidecar.DeletionTimestamp != nil:
		return title + " is deleted"
	case !sidecar.Spec.IsEnabled():
		return fmt.Sprintf("spec.enabled of %s is false", title)
	}
	return title + " no longer selects the workload"
}
