// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// addPreceding adds the evaluations of the VectorSidecars that take precedence in some of the workloads.
func (e *evaluation) addPreceding(cache *desired.Cache, records []*workloadcache.Record) {
	for _, sidecar := range precedingSidecars(&e.Input, records) {
		preceding := &evaluation{Input: e.Input, reader: e.reader, preceding: slices.Clip(e.preceding), pending: map[types.UID]*plan.Desired{}, bases: map[string]string{}}
		preceding.Sidecar = sidecar
		preceding.selector, _ = parseSelector(sidecar, preceding.Scope().Invalid) // The selector of a preceding VectorSidecar is valid.
		preceding.desired = desired.New(&preceding.Inputs, e.reader, cache)
		if common := preceding.desired.CommonVariant(); common != nil && common.Container != "" {
			e.preceding = append(e.preceding, preceding)
		}
	}
}

// evaluateInjections evaluates the workloads that should have the sidecar. An evaluation of the last decision is used
// again if its inputs are the same.
func (e *evaluation) evaluateInjections(ctx context.Context, records []*workloadcache.Record) ([]evaluatedWorkload, error) {
	var previous []*Evaluated
	if e.Previous != nil {
		previous = e.Previous.Injected
	}
	workloads := make([]evaluatedWorkload, 0, len(records))
	for i, record := range records {
		if i%desired.PrefetchLimit == 0 {
			e.desired.Prefetch(ctx, records[i:])
		}
		variant := e.desired.Variant(record)
		evaluated := findEvaluated(previous, record)
		if evaluated == nil || !e.isCurrent(evaluated, variant) {
			evaluated = e.evaluate(ctx, record, variant)
		}
		if err := e.reader.WaitForTurn(); err != nil {
			return nil, err
		}
		workloads = append(workloads, evaluatedWorkload{Record: record, Evaluated: evaluated, Source: variant.Source})
	}
	return workloads, nil
}

// evaluateRemovals evaluates the workloads that should not have the sidecar.
func (e *evaluation) evaluateRemovals(records []*workloadcache.Record) []evaluatedWorkload {
	var previous []*Evaluated
	if e.Previous != nil {
		previous = e.Previous.Removed
	}
	var workloads []evaluatedWorkload
	for _, record := range records {
		evaluated := findEvaluated(previous, record)
		if evaluated == nil {
			view := record.View()
			evaluated = &Evaluated{Record: record, Plan: plan.ForRemoval(e.manager(), &view)}
		}
		workloads = append(workloads, evaluatedWorkload{Record: record, Evaluated: evaluated})
	}
	return workloads
}

// evaluate evaluates one workload that should have the sidecar.
func (e *evaluation) evaluate(ctx context.Context, record *workloadcache.Record, variant *desired.Variant) *Evaluated {
	view := record.View()
	evaluated := e.evaluateView(ctx, record, variant, &view)
	// A preceding VectorSidecar may have read the ServiceAccount.
	evaluated.Record, evaluated.Basis = record, withAccount(e.basisFor(variant), e.reader.FindAccount(view.ServiceAccount))
	return evaluated
}

// evaluateView evaluates the view of a workload that should have the sidecar.
func (e *evaluation) evaluateView(ctx context.Context, record *workloadcache.Record, variant *desired.Variant, view *workload.View) *Evaluated {
	if view.Unread.Text() != "" { // Templates would report errors about the missing fields.
		return &Evaluated{Plan: e.plan(nil, "", nil, view)}
	}
	desiredWorkload := variant.WorkloadFor(ctx, view)
	if desiredWorkload.LacksAccount {
		view.Account = e.reader.Account(view.ServiceAccount)
		desiredWorkload = variant.WorkloadFor(ctx, view)
	}
	rendered := desiredWorkload.Rendered
	if invalid := desiredWorkload.Invalid; invalid != nil {
		return &Evaluated{Plan: plan.ForBlocked(e.manager(), view, *obstacle(invalid.Reason, invalid.Message)), Rendered: rendered}
	}
	p := e.plan(desiredWorkload.Desired, variant.Container, e.competitors(ctx, record, view), view)
	p = p.WithBlock(findBlock(policyGates, e, &gateInput{plan: &p, view: view, rendered: rendered}))
	if p.Desired != nil {
		p.Warning = desiredWorkload.Warnings(p.Manager, e.AdmissionBlocker, view)
	}
	evaluated, owned := &Evaluated{Rendered: rendered, Companions: rendered.Companions, Copied: rendered.Copied}, view.Owned[p.Manager]
	switch {
	case p.Existing.UnchangedHash != "":
		evaluated.KeptConfigMaps = owned.ConfigMaps()
		e.dropCompanions(evaluated, owned.ConfigVersion())
	case p.HasChange(plan.Update) && e.Sidecar.Spec.RolloutMode() != v1alpha1.ModeImmediate:
		evaluated.KeptConfigMaps = owned.ConfigMaps()
		p.Write.AtOnce = p.Write.AtOnce || e.hasLostCurrentConfigMap(evaluated, p.Desired)
	}
	evaluated.Plan = p
	return evaluated
}

// competitors returns the preceding VectorSidecars that select a workload, sorted by precedence.
func (e *evaluation) competitors(ctx context.Context, record *workloadcache.Record, view *workload.View) []competitor {
	var competitors []competitor
	for _, preceding := range e.preceding {
		supersedes := meta.IsOfCluster(e.Sidecar.Name) && !meta.IsOfCluster(preceding.Sidecar.Name) && preceding.desired.Invalid == nil
		if (supersedes || !view.Owned[e.manager()].HasPlainAnnotations) && record.IsSelectedBy(preceding.selector) {
			competitors = append(competitors, competitor{
				name: preceding.Sidecar.Name, container: preceding.desired.CommonVariant().Container, supersedes: supersedes, pending: preceding.pendingSidecar(ctx, record, view),
			})
		}
	}
	return competitors
}

// pendingSidecar returns the sidecar that a preceding VectorSidecar is about to inject into a workload. It returns nil if
// it does not inject one, or if the workload already has its sidecar.
func (e *evaluation) pendingSidecar(ctx context.Context, record *workloadcache.Record, view *workload.View) *plan.Desired {
	if owned, isOwned := view.Owned[e.manager()]; isOwned && !owned.IsAdmissionInjected() {
		return nil
	}
	pending, ok := e.pending[record.UID]
	if !ok {
		if p := e.evaluate(ctx, record, e.desired.Variant(record)).Plan; p.HasChange(plan.Inject, plan.Adopt) {
			pending = p.Desired
		}
		e.pending[record.UID] = pending
	}
	return pending
}

// setOverlays sets the sidecars of workloads that do not exist yet, or the reason why there are none.
func (e *evaluation) setOverlays(ctx context.Context, injected []evaluatedWorkload) {
	if invalid := e.desired.Invalid; invalid != nil {
		e.overlayBlocker = invalid.Message
		return
	}
	var renderedWorkloads []desired.RenderedWorkload
	for i := range injected {
		if rendered := injected[i].Evaluated.Rendered; rendered != nil && injected[i].Source.IsCommon {
			view := injected[i].Record.View()
			renderedWorkloads = append(renderedWorkloads, desired.RenderedWorkload{Rendered: rendered, QoSClass: view.QoSClass})
		}
	}
	e.overlays, e.overlayBlocker = e.desired.AdmissionOverlays(ctx, e.Sidecar.Namespace, renderedWorkloads)
}
