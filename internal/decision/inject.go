// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"context"

	"kontroloop.ai/vector-sidecar-operator/internal/catalog"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// injection is what the plans of one decision have in common.
type injection struct {
	*Decision
	snapshot *Snapshot
	memo     *Memo
	manager  string
	matched  []*workloadcache.Record
	set      *catalog.Set
	variants map[string]*variant
	// overrides is how many bytes the keys of the variants have.
	overrides int
	// kin are the elders that are known already, by name; nil for who is none.
	kin map[string]*elder
	// last is the wanted whose companions were noted last.
	last *wanted
	// texts are what plans of this decision say.
	texts plan.Texts
}

// inject plans the workloads that should carry the sidecar.
func (d *Decision) inject(ctx context.Context, snapshot *Snapshot, memo *Memo, recall *judgements, matched []*workloadcache.Record) error {
	set, invalid := snapshot.templateSet(d.Environment)
	if set != nil {
		d.TemplateSet = set.Name
	}
	if d.Invalid = invalid; invalid != nil {
		return nil
	}
	d.Outdated = snapshot.outdated(set)
	in := injection{
		Decision: d, snapshot: snapshot, memo: memo, manager: meta.Manager(snapshot.Sidecar.Name), matched: matched, set: set,
		variants: map[string]*variant{}, kin: map[string]*elder{},
	}
	common := in.variant("")
	if err := snapshot.reservation.yield(); err != nil {
		return err
	}
	if d.Invalid = common.invalid; d.Invalid != nil {
		return nil
	}
	if len(matched) == 0 {
		report := common.batch.checkAlone(ctx)
		d.Invalid = refused(report, common.batch.request.Values)
		in.note(report, common)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	var failed *Invalid
	failures, haveLooked := 0, false
	for i, record := range matched {
		if i%aheadLimit == 0 {
			in.renderAhead(ctx, matched[i:])
		}
		own := in.variantOf(record)
		judged := recall.of(record, own.basis, func() *judgement { return in.judge(ctx, record, own) })
		if err := snapshot.reservation.yield(); err != nil {
			return err
		}
		if wanted := judged.wanted; wanted != nil {
			d.Late = d.Late || wanted.late
			if wanted.invalid != nil && own == common {
				failed, failures = wanted.invalid, failures+1
				haveLooked = failed.Reason == meta.ReasonInvalidTemplate && len(wanted.readTarget) > 0
			}
		}
		in.add(record, own, judged)
	}
	// What no workload can take is a fault of the VectorSidecar and not of
	// the workloads.
	if failures > 0 && failures == len(matched) {
		d.Invalid, d.OfWorkloads = failed, haveLooked
	}
	return nil
}

// judge judges one workload by itself.
func (d *injection) judge(ctx context.Context, record *workloadcache.Record, by *variant) *judgement {
	view := record.View()
	if why := by.invalid; why != nil {
		return &judgement{plan: plan.ForBlocked(d.manager, &view, why.Reason, why.Message)}
	}
	wanted := by.batch.want(ctx, &view)
	if why := wanted.invalid; why != nil {
		return &judgement{plan: plan.ForBlocked(d.manager, &view, why.Reason, why.Message), wanted: wanted}
	}
	desired := wanted.desired
	switch before := by.batch.predecessor(ctx, d.manager, &view); {
	case before == nil:
	case before.late: // Without it, what need not be written might be.
		return &judgement{plan: plan.ForBlocked(d.manager, &view, before.invalid.Reason, before.invalid.Message), wanted: before}
	case before.invalid == nil:
		desired = desired.After(before.desired)
	}
	p := d.plan(ctx, record, &view, desired, by)
	d.admit(&p, &view, wanted)
	if p.Desired != nil {
		p.Warning = by.doubts(wanted, &view)
	}
	judged := &judgement{plan: p, wanted: wanted, companions: wanted.companions, copied: wanted.copied}
	if p.Keeps != "" {
		d.snapshot.keep(judged, &view)
	}
	return judged
}

// add turns a judgement into a plan, in the face of all else that goes on, and notes
// the companions that it needs.
func (d *injection) add(record *workloadcache.Record, of *variant, judged *judgement) {
	d.Plans = append(d.Plans, judged.plan)
	p, wanted := &d.Plans[len(d.Plans)-1], judged.wanted
	p.State = record.State
	defer d.pace(d.snapshot, p)
	if wanted == nil {
		return
	}
	isAnother := d.last != wanted
	if isAnother {
		d.note(wanted.report, of)
	}
	if wanted.invalid == nil {
		d.snapshot.breakLoop(p, record)
		d.validate(p, wanted.validation, record)
	}
	for _, name := range judged.kept {
		d.kept[name] = true
	}
	if !isAnother && p.Keeps == "" || p.Desired == nil || p.Action == plan.Blocked || p.Action == plan.Conflict || p.Waiting {
		return // Nothing of this rendering is in it, or will be now, or that is noted.
	}
	if p.Keeps == "" {
		d.last = wanted
	}
	for i := range judged.companions {
		d.need(&judged.companions[i])
	}
	if judged.copied != nil {
		d.needCopy(judged.copied, of.batch)
	}
}

// admit blocks a write that the policy does not allow into this workload, or whose
// pods would be refused because of the sidecar.
func (d *injection) admit(p *plan.Plan, view *workload.View, wanted *wanted) {
	if !p.Writes() || p.Action == plan.Remove || p.Action == plan.Note {
		return
	}
	rules := d.snapshot.Platform.Policy
	if err := rules.CheckApplication(view, &wanted.overlay.Template); err != nil {
		p.Action, p.Reason, p.Message = plan.Blocked, meta.ReasonPolicyViolation, err.Error()
	} else if err := rules.Admit(d.snapshot.NamespaceLabels, &view.Application, &wanted.overlay.Template); err != nil {
		p.Action, p.Reason, p.Message = plan.Blocked, meta.ReasonPodSecurity, err.Error()
	}
}
