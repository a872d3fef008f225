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

// Decide makes the decision for the workloads that should have the sidecar and for the workloads that should not. Both
// lists are sorted by name. The result depends only on the arguments. Decide is the only function that combines plans:
// with the canaries, and with the limits for all of them.
func Decide(facts *Facts, injected, removed []Workload) *Decision {
	d := &Decision{
		Common: facts.Desired, Matched: facts.Kinds.Total(), Kinds: facts.Kinds,
		BlindHalt: facts.BlindHalt, IsForDeletion: facts.Sidecar.DeletionTimestamp != nil,
		Plans: make([]plan.Plan, 0, len(injected)+len(removed)), kept: map[string]bool{},
		Previous: &Previous{Injected: make([]*Evaluated, 0, len(injected))},
	}
	d.addFindings(facts.Findings)
	d.inject(facts, injected)
	canaries, hasChange := d.findCanaries(facts, injected)
	for _, i := range canaries {
		d.Plans[i].IsCanary = true
	}
	if hasChange {
		d.Canary = d.canaryStatus(facts, changeDigest(injected))
	}
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
	if d.Canary != nil && d.Canary.State != v1alpha1.CanaryFinished {
		d.Limit.Unproven = noEvidenceMessage(facts.Sidecar)
	}
	d.offer(facts)
	d.Missing, d.Invalid = facts.missingCompanions(d.Companions, d.Invalid)
	limit := d.Limit
	if invalid := d.Invalid; invalid != nil {
		d.withholdOverlays(invalid.Message)
		limit.Error = &plan.Block{Kind: plan.BlockedByError, Reason: invalid.Reason, Message: invalid.Message}
	}
	d.Plans = plan.Admit(d.Plans, limit)
	d.findObsoleteCompanions(facts.Companions)
	if d.Limit.WriteHold != nil { // Companions and validations are written with the workloads.
		d.Missing, d.Obsolete, d.Validations, d.HasSettled = nil, nil, nil, false
	}
	for i := range d.Plans {
		if block := d.Plans[i].Block; block != nil {
			d.checkAt(facts.Now, block.Until)
		}
	}
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
		p := d.newPlan(facts, w)
		d.Plans = append(d.Plans, p)
		lastRendered = d.addCompanions(facts, w, &p, lastRendered)
	}
	// If the rendering is invalid for all workloads, the VectorSidecar has the error, not the workloads.
	if failures > 0 && failures == len(workloads) {
		d.Invalid, d.IsWorkloadSpecific = failed, readsTarget
	}
}

// newPlan returns the plan of a workload that should have the sidecar: the evaluated plan with the first block of its
// gates, and with its rollout. It also records the effects of the block on the VectorSidecar, and the used node ports.
func (d *Decision) newPlan(facts *Facts, w *Workload) plan.Plan {
	current, rendered := w.currentPlan(), w.Evaluated.Rendered
	if rendered == nil { // The workload cannot have the sidecar.
		return d.withRollout(facts, current, w.Started)
	}
	if !current.HasChange(plan.Inject, plan.Update) { // Gates block only these changes.
		current.Warning = facts.warning(&current, rendered)
		return d.withRollout(facts, current, w.Started)
	}
	input := d.newGateInput(facts, w, current)
	p, block := input.gatedPlan()
	switch {
	case block == nil:
	case block.Kind == plan.BlockedByInvalidConfig:
		d.Invalid = &desired.Invalid{Reason: block.Reason, Message: block.Message}
	case block.Kind == plan.BlockedByMode:
		d.Deferred.add(d.mode, input.wait.StartedAt)
	case block.Kind == plan.BlockedByValidation:
		d.addValidation(rendered.Validation)
	}
	if len(input.ports) > 0 && p.HasChange(plan.Inject, plan.Update) { // A rejected sidecar does not listen on its ports.
		d.claims = append(d.claims, input)
	}
	return d.withRollout(facts, p, w.Started)
}

// addCompanions adds the companions that a plan needs. The rendering in the arguments is the last one with companions
// that were added. addCompanions returns the new last one.
func (d *Decision) addCompanions(facts *Facts, w *Workload, p *plan.Plan, lastRendered *desired.Rendered) *desired.Rendered {
	evaluated, rendered := w.Evaluated, w.Evaluated.Rendered
	if rendered == nil {
		return lastRendered
	}
	isAnother := lastRendered != rendered
	if isAnother && rendered.Report != nil && !w.Source.ChecksOff {
		d.addFindings(rendered.Report.Findings)
	}
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

// remove plans a workload that should not have the sidecar. It adds the plan if a change is necessary or in progress.
func (d *Decision) remove(facts *Facts, w *Workload) {
	d.Previous.Removed = append(d.Previous.Removed, w.Evaluated)
	removal := w.Evaluated.Plan
	if removal.Existing.IsMarked && !removal.Existing.IsOwned && !removal.Existing.Waits && !d.IsForDeletion {
		d.LeavesMarks, removal.Change, removal.Block = true, plan.None, nil
	}
	removal.Workload, removal.Write.Cause = w.Record.State(), removalCause(facts.Sidecar)
	if removal = d.withRollout(facts, removal, w.Started); removal.Rollout.InFlight || !removal.HasChange(plan.None) {
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
