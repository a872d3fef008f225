// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
)

// Decide decides what to write to each workload of a VectorSidecar. The cache may be nil. It returns an error if an
// object cannot be read, and the context's error. Errors in the input are part of the decision.
//
// If the content of a ConfigMap changes during a rollout, the new content is used after the rollout has finished or
// failed. Otherwise a client that changes the ConfigMap every second would keep restarting pods, and the last workloads
// would never be updated. Invalid content is reported at once.
func Decide(ctx context.Context, input *Input, cache *desired.Cache) (*Decision, error) {
	input = input.withFixedResults()
	current, err := decideOn(ctx, input, cache)
	if err != nil {
		return nil, err
	}
	if current.Invalid != nil {
		current.Adopted = input.Adopted
		return current, nil
	}
	if changed := input.Adopted.changedIn(&current.Adopted); len(changed) > 0 {
		pinnedInput := *input
		pinnedInput.Pinned = map[string]*corev1.ConfigMap{}
		for _, key := range changed {
			pinnedInput.Pinned[key] = input.Adopted.ConfigMaps[key]
		}
		pinnedDecision, err := decideOn(ctx, &pinnedInput, cache)
		if err != nil {
			return nil, err
		}
		if pinnedDecision.IsInProgress() {
			pinnedDecision.Waiting = changed
			return pinnedDecision, nil
		}
	}
	if !current.IsInProgress() {
		current.Adopted = Adopted{}
	}
	return current, nil
}

// decideOn makes the decision with the ConfigMaps of the Input, and records the content that it used.
func decideOn(ctx context.Context, input *Input, cache *desired.Cache) (*Decision, error) {
	sidecar := input.Sidecar
	d := &Decision{Adopted: Adopted{Generation: sidecar.Generation}, IsForDeletion: sidecar.DeletionTimestamp != nil}
	if lastgood.IsReverted(sidecar) { // A revert counts as a change of the spec.
		d.Adopted.Generation = -sidecar.Generation
	}
	inject, remove, kinds, invalid := match(input)
	if d.Invalid = invalid; invalid != nil || sidecar.Orphans() {
		d.OwnerRemovals = sidecar.Status.RemovedByOwners
		return d, nil
	}
	d.Kinds, d.Matched = kinds, kinds.Total()
	e := &evaluation{Input: *input, reader: desired.NewReader(ctx, &input.Inputs), bases: map[string]string{}}
	defer e.reader.Release()
	var injected []evaluatedWorkload
	if !d.IsForDeletion {
		e.desired = desired.New(&e.Inputs, e.reader, cache)
		d.Common, d.Adopted.ConfigMaps = e.desired.Common, e.desired.Read()
		if err := e.reader.WaitForTurn(); err != nil {
			return nil, err
		}
		var err error
		switch {
		case d.Invalid != nil:
		case len(inject) == 0:
			err = d.checkAlone(ctx, e.desired)
		default:
			e.addPreceding(cache, inject)
			injected, err = e.evaluateInjections(ctx, inject)
		}
		if err != nil {
			return nil, err
		}
		if input.NeedsOverlays && sidecar.Spec.IsEnabled() {
			e.setOverlays(ctx, injected)
		}
	}
	d.planAll(e, injected, e.evaluateRemovals(remove))
	if err := e.reader.Err(); err != nil {
		return nil, err
	}
	d.References = e.reader.ConfigMapKeys()
	return d, nil
}

// checkAlone checks the configuration of a VectorSidecar that does not inject sidecars. It returns the context's error.
func (d *Decision) checkAlone(ctx context.Context, desiredState *desired.Desired) error {
	report, invalid := desiredState.CheckAlone(ctx)
	d.Invalid = invalid
	if !desiredState.CommonVariant().Source.ChecksOff {
		d.addFindings(report.Findings)
	}
	return ctx.Err()
}

// planAll plans the workloads that should have the sidecar and the workloads that should not, and finds everything that
// depends on all plans: canaries, limits, admission overlays and companions. Both lists are sorted by name.
func (d *Decision) planAll(e *evaluation, injected, removed []evaluatedWorkload) {
	d.BlindHalt, d.kept = e.BlindHalt, map[string]bool{}
	d.Plans = make([]plan.Plan, 0, len(injected)+len(removed))
	d.Previous = &Previous{Injected: make([]*Evaluated, 0, len(injected))}
	d.inject(e, injected)
	canaries, hasChange := d.findCanaries(&e.Input, injected)
	for _, i := range canaries {
		d.Plans[i].IsCanary = true
	}
	if hasChange {
		d.Canary = d.canaryStatus(&e.Input, changeDigest(injected))
	}
	for i := range removed {
		d.remove(&e.Input, &removed[i])
	}
	if len(removed) > 0 { // Without removals, the plans are sorted already.
		slices.SortFunc(d.Plans, func(a, b plan.Plan) int {
			return cmp.Or(strings.Compare(a.Target.Name, b.Target.Name), strings.Compare(a.Target.Kind, b.Target.Kind))
		})
	}
	d.Limit, d.Retry = rolloutLimit(&e.Input, d.Matched), requestedRetry(&e.Input)
	if d.Retry != nil {
		d.Limit.Retried = d.Retry.RetryTime.Time
	}
	if d.Canary != nil && d.Canary.State != v1alpha1.CanaryFinished {
		d.Limit.Unproven = noEvidenceMessage(e.Sidecar)
	}
	d.addOverlays(e)
	d.Missing, d.Invalid = e.missingCompanions(d.Companions, d.Invalid)
	limit := d.Limit
	if invalid := d.Invalid; invalid != nil {
		d.withholdOverlays(invalid.Message)
		limit.Error = &plan.Block{Kind: plan.BlockedByError, Reason: invalid.Reason, Message: invalid.Message}
	}
	d.Plans = plan.Admit(d.Plans, limit)
	d.findObsoleteCompanions(e.Companions)
	if d.Limit.WriteHold != nil { // Companions and validations are written with the workloads.
		d.Missing, d.Obsolete, d.Validations, d.HasSettled = nil, nil, nil, false
	}
	for i := range d.Plans {
		if block := d.Plans[i].Block; block != nil {
			d.checkAt(e.Now, block.Until)
		}
	}
}

// inject adds plans for the workloads that should have the sidecar.
func (d *Decision) inject(e *evaluation, workloads []evaluatedWorkload) {
	var failed *desired.Invalid
	var lastRendered *desired.Rendered // The last rendering with companions that were added.
	failures, readsTarget := 0, false
	d.mode = newMode(e.Sidecar, workloads)
	d.findOwnerRemovals(&e.Input, workloads)
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
		p := d.newPlan(e, w)
		d.Plans = append(d.Plans, p)
		lastRendered = d.addCompanions(e.Sidecar, w, &p, lastRendered)
	}
	// If the rendering is invalid for all workloads, the VectorSidecar has the error, not the workloads.
	if failures > 0 && failures == len(workloads) {
		d.Invalid, d.IsWorkloadSpecific = failed, readsTarget
	}
}

// newPlan returns the plan of a workload that should have the sidecar: the evaluated plan with the first block of its
// gates, and with its rollout.
func (d *Decision) newPlan(e *evaluation, w *evaluatedWorkload) plan.Plan {
	p, rendered := w.currentPlan(&e.Input), w.Evaluated.Rendered
	switch {
	case rendered == nil: // The workload cannot have the sidecar.
	case p.HasChange(plan.Inject, plan.Update): // Gates block only these changes.
		p = d.gatedPlan(e, w, p)
	default:
		p.Warning = e.warning(&p, rendered)
	}
	return d.withRollout(&e.Input, p)
}

// gatedPlan returns the plan of an injection or update with the first block of its gates, and with the texts that depend
// on it. It also records the effects of the block on the VectorSidecar, and the used node ports.
func (d *Decision) gatedPlan(e *evaluation, w *evaluatedWorkload, change plan.Plan) plan.Plan {
	view, rendered := w.Record.View(), w.Evaluated.Rendered
	g := &gateInput{plan: &change, view: &view, rendered: rendered, mode: d.mode, claims: d.claims}
	if change.Owner != nil {
		g.removal = d.ownerRemovalFor(&change)
	}
	if d.mode != nil {
		g.wait, g.isWaitRecorded = d.mode.waitFor(&e.Input, &change)
	}
	if change.Target.Adapter().Traits.OnEveryNode {
		g.ports = change.NodePorts(g.view)
	}
	p, block := change, findBlock(ownerGates, e, g)
	if block == nil {
		p.OwnerNotice, p.MaxAgeExpired = g.ownerNotice(), g.hasMaxAgeExpired(e.Now)
		block = findBlock(changeGates, e, g)
	}
	p = p.WithBlock(block)
	p.Warning = e.warning(&p, rendered)
	if block == nil {
		block = findBlock(checkGates, e, g)
		p = p.WithBlock(block)
	}
	switch {
	case block == nil:
	case block.Kind == plan.BlockedByInvalidConfig: // The workload should not have the sidecar.
		d.Invalid = &desired.Invalid{Reason: block.Reason, Message: block.Message}
		p = plan.ForBlocked(p.Manager, g.view, *block)
	case block.Kind == plan.BlockedByMode:
		d.addDeferred(g.wait.StartedAt)
	case block.Kind == plan.BlockedByValidation:
		d.addValidation(rendered.Validation)
	}
	if len(g.ports) > 0 && p.HasChange(plan.Inject, plan.Update) { // A rejected sidecar does not listen on its ports.
		d.claims = append(d.claims, g)
	}
	return p
}

// addDeferred counts a workload that has waited for spec.rollout.mode since a start time.
func (d *Decision) addDeferred(start time.Time) {
	if d.Deferred == nil {
		d.Deferred = &v1alpha1.DeferredStatus{Since: &metav1.Time{Time: start}, Change: d.mode.change}
	}
	if start.Before(d.Deferred.Since.Time) {
		d.Deferred.Since.Time = start
	}
	d.Deferred.Workloads++
	d.DeferredUntil = d.mode.waitEnd(d.Deferred.Since.Time)
}

// addCompanions adds the companions that a plan needs. The rendering in the arguments is the last one with companions
// that were added. addCompanions returns the new last one.
func (d *Decision) addCompanions(sidecar *v1alpha1.VectorSidecar, w *evaluatedWorkload, p *plan.Plan, lastRendered *desired.Rendered) *desired.Rendered {
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
		d.addConfigMapCopy(evaluated.Copied, w.Source.ConfigMap, types.NamespacedName{Namespace: sidecar.Namespace, Name: sidecar.Name})
	}
	if p.Existing.UnchangedHash != "" {
		return lastRendered
	}
	return rendered
}

// remove plans a workload that should not have the sidecar. It adds the plan if a change is necessary or in progress.
func (d *Decision) remove(input *Input, w *evaluatedWorkload) {
	d.Previous.Removed = append(d.Previous.Removed, w.Evaluated)
	removal := w.Evaluated.Plan
	if removal.Existing.IsMarked && !removal.Existing.IsOwned && !removal.Existing.Waits && !d.IsForDeletion {
		d.LeavesMarks, removal.Change, removal.Block = true, plan.None, nil
	}
	removal.Workload, removal.Write.Cause = w.Record.State(), input.removalCause()
	if removal = d.withRollout(input, removal); removal.Rollout.InFlight || !removal.HasChange(plan.None) {
		d.Plans = append(d.Plans, removal)
	}
}

// removalCause returns the cause of a removal: why a workload should not have the sidecar.
func (input *Input) removalCause() string {
	sidecar := input.Sidecar
	title := meta.Title(sidecar.Name)
	switch {
	case sidecar.DeletionTimestamp != nil && input.Scope().IsActive:
		return title + " no longer selects the namespace"
	case sidecar.DeletionTimestamp != nil:
		return title + " is deleted"
	case !sidecar.Spec.IsEnabled():
		return fmt.Sprintf("spec.enabled of %s is false", title)
	}
	return title + " no longer selects the workload"
}
