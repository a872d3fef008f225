// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"context"
	"fmt"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// plan plans one workload in the face of older VectorSidecars. What is in the workload
// keeps its place; of those that are new to it the older comes first, whoever writes
// first.
func (d *injection) plan(ctx context.Context, record *workloadcache.Record, view *workload.View, desired *plan.Desired, by *variant) plan.Plan {
	policy := plan.Policy{
		StrictOrder: d.snapshot.Sidecar.Spec.StrictOrder,
		ReportDrift: d.snapshot.Sidecar.Spec.DriftPolicy == v1alpha1.DriftReport,
		Texts:       &d.texts,
	}
	p := plan.For(d.manager, desired, policy, view)
	if p.Keeps != "" && d.snapshot.hasLost(d.manager, desired, view) {
		policy.Renew = true
		p = plan.For(d.manager, desired, policy, view)
	}
	if len(by.elders) == 0 || p.Action == plan.Blocked || p.Action == plan.Remove || view.Owned[d.manager].HasPlainAnnotations {
		return p
	}
	if name := namesake(by.elders, by.container, view); name != "" && !p.Carries {
		p.Action, p.Desired, p.Reason, p.Rival = plan.Conflict, nil, meta.ReasonConflict, name
		p.Message = fmt.Sprintf("VectorSidecar %s, which is older, injects a container of the same name: give one of them another name in spec.sidecar.name", name)
		return p
	}
	expected := *view
	for _, elder := range by.elders {
		if wish := elder.wish(ctx, record, view); wish != nil {
			expected, policy.Second = wish.Expect(elder.manager, &expected), true
		}
	}
	if !policy.Second {
		return p
	}
	if !p.Carries {
		if clash := plan.For(d.manager, desired, policy, &expected); clash.Action != plan.Inject {
			clash.Rival = "" // Nothing is in the way yet that would be somebody's.
			return clash
		}
	}
	return plan.For(d.manager, desired, policy, view)
}

// breakLoop blocks a write that somebody keeps undoing.
func (s *Snapshot) breakLoop(p *plan.Plan, record *workloadcache.Record) {
	if len(s.Loops) == 0 || p.Desired == nil || !p.Writes() || p.Action == plan.Note {
		return
	}
	if loop := s.Loops[record.UID]; loop.InjectedHash == p.Desired.InjectedHash() {
		p.Action, p.Reason = plan.Blocked, meta.ReasonRepairLoop
		p.Message = fmt.Sprintf("the sidecar was taken out or changed again after each of %d writes (the last writer on record is %q): make whoever does that leave it alone, or annotate the workload with %s: \"false\"", loop.Writes, record.LastWriter(), meta.AnnotationInject)
	}
}
