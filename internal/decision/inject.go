// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"context"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/platform"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// inject plans the workloads that should carry the sidecar.
func (d *Decision) inject(ctx context.Context, snapshot *Snapshot, memo *Memo, manager string, matched []*workload.View) error {
	set, invalid := snapshot.templateSet(d.Environment)
	if set != nil {
		d.TemplateSet = set.Name
	}
	if d.Invalid = invalid; invalid != nil {
		return nil
	}
	d.Outdated = snapshot.outdated(set)
	in := injection{
		Decision: d, snapshot: snapshot, memo: memo, manager: manager, matched: matched, set: set, variants: map[string]*variant{},
	}
	common := in.variant("")
	if d.Invalid = common.invalid; d.Invalid != nil {
		return nil
	}
	if len(matched) == 0 {
		report := common.batch.checkAlone()
		d.Invalid = refused(report, common.batch.request.Values)
		in.note(report, common)
	}
	var failed *Invalid
	failures, haveLooked := 0, false
	for i, view := range matched {
		if i%aheadLimit == 0 {
			in.renderAhead(ctx, matched[i:])
		}
		own := in.variantOf(view)
		if own.invalid != nil {
			in.block(view, own.invalid)
			continue
		}
		wanted := own.batch.want(ctx, view)
		if err := ctx.Err(); err != nil {
			return err
		}
		d.Late = d.Late || wanted.late
		if wanted.invalid != nil && own == common {
			failed, failures = wanted.invalid, failures+1
			haveLooked = failed.Reason == meta.ReasonInvalidTemplate && len(wanted.readTarget) > 0
		}
		in.add(view, own, wanted)
	}
	// What no workload can take is a fault of the VectorSidecar and not of
	// the workloads.
	if failures > 0 && failures == len(matched) {
		d.Invalid, d.OfWorkloads = failed, haveLooked
	}
	return nil
}

// injection is what the plans of one decision have in common.
type injection struct {
	*Decision
	snapshot *Snapshot
	memo     *Memo
	manager  string
	matched  []*workload.View
	set      *platform.Set
	variants map[string]*variant
}

// block plans a workload that cannot take the sidecar, and leaves it as it is.
func (d *injection) block(view *workload.View, why *Invalid) {
	d.Plans = append(d.Plans, plan.ForBlocked(d.manager, view, why.Reason, why.Message))
}

// add plans one workload and notes the companions that it needs.
func (d *injection) add(view *workload.View, of *variant, wanted *wanted) {
	d.note(wanted.report, of)
	if wanted.invalid != nil {
		d.block(view, wanted.invalid)
		return
	}
	p := d.snapshot.plan(d.manager, view, wanted.desired, of.older)
	d.admit(&p, view, wanted)
	if p.Desired != nil {
		p.Warning = of.doubts(wanted, view)
	}
	p = d.validate(p, wanted.validation, view)
	d.Plans = append(d.Plans, p)
	if p.Desired == nil || p.Action == plan.Blocked || p.Action == plan.Conflict || p.Waiting {
		return // Nothing of this rendering is in it, or will be now.
	}
	for _, companion := range wanted.companions {
		known := false
		for i := range d.Companions {
			known = known || d.Companions[i].Name == companion.Name
		}
		if !known {
			d.Companions = append(d.Companions, companion)
		}
	}
}

// admit blocks a write that the policy does not allow into this workload, or whose
// pods would be refused because of the sidecar.
func (d *injection) admit(p *plan.Plan, view *workload.View, wanted *wanted) {
	if !p.Writes() || p.Action == plan.Remove {
		return
	}
	rules := d.snapshot.Platform.Policy
	if err := rules.CheckMounts(&view.Application, wanted.overlay); err != nil {
		p.Action, p.Reason, p.Message = plan.Blocked, meta.ReasonPolicyViolation, err.Error()
	} else if err := rules.Admit(d.snapshot.NamespaceLabels, &view.Application, wanted.overlay); err != nil {
		p.Action, p.Reason, p.Message = plan.Blocked, meta.ReasonPodSecurity, err.Error()
	}
}
