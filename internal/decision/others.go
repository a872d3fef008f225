// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/labels"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// plan plans one workload in the face of older VectorSidecars.
func (s *Snapshot) plan(manager string, view *workload.View, desired *plan.Desired, older []rival) plan.Plan {
	policy := plan.Policy{
		StrictOrder: s.Sidecar.Spec.StrictOrder,
		ReportDrift: s.Sidecar.Spec.DriftPolicy == v1alpha1.DriftReport,
	}
	p := plan.For(manager, desired, policy, view)
	if p.Keeps != "" && s.hasLost(manager, desired, view) {
		policy.Renew = true
		p = plan.For(manager, desired, policy, view)
	}
	if rival := oldest(older, view); rival != "" && p.Action != plan.Blocked && p.Action != plan.Remove {
		if p.Carries {
			p = plan.ForRemoval(manager, view)
			p.Rival = rival
			return p
		}
		p.Action, p.Desired, p.Reason, p.Rival = plan.Conflict, nil, meta.ReasonConflict, rival
		p.Message = fmt.Sprintf("VectorSidecar %s, which is older, injects a container of the same name: give one of them another name in spec.sidecar.name", rival)
	}
	return p
}

// breakLoop blocks a write that somebody keeps undoing.
func (s *Snapshot) breakLoop(p *plan.Plan, record *workload.Record) {
	if len(s.Loops) == 0 || p.Desired == nil || !p.Writes() || p.Action == plan.Note {
		return
	}
	if loop := s.Loops[record.UID]; loop.InjectedHash == p.Desired.InjectedHash() {
		p.Action, p.Reason = plan.Blocked, meta.ReasonRepairLoop
		p.Message = fmt.Sprintf("the sidecar was taken out or changed again after each of %d writes (the last writer on record is %q): make whoever does that leave it alone, or annotate the workload with %s: \"false\"", loop.Writes, record.LastWriter(), meta.AnnotationInject)
	}
}

// rival is an older VectorSidecar that injects a container of the same name.
type rival struct {
	name     string
	selector labels.Selector
}

// rivals are the older VectorSidecars that inject a container of the given name,
// the oldest first. Of equal age, the name decides.
func (s *Snapshot) rivals(container string, matched []*workload.Record) []rival {
	var older []rival
	for i := range s.Others {
		other := &s.Others[i]
		if !isOlder(other, s.Sidecar) || !other.Spec.IsEnabled() || other.DeletionTimestamp != nil {
			continue
		}
		selector, invalid := selectorOf(other)
		if invalid != nil {
			continue
		}
		candidate := rival{name: other.Name, selector: selector}
		meets := slices.ContainsFunc(matched, func(record *workload.Record) bool { return selector.Matches(record.Labels()) })
		if meets && s.containerName(other) == container {
			older = append(older, candidate)
		}
	}
	return older
}

// oldest returns the name of the first rival that selects a workload, or "".
func oldest(rivals []rival, view *workload.View) string {
	for _, r := range rivals {
		if r.selector.Matches(labels.Set(view.Labels)) {
			return r.name
		}
	}
	return ""
}

func isOlder(a, b *v1alpha1.VectorSidecar) bool {
	if a.CreationTimestamp.Equal(&b.CreationTimestamp) {
		return a.Name < b.Name
	}
	return a.CreationTimestamp.Before(&b.CreationTimestamp)
}

// containerName is the name that a VectorSidecar's values give its container; ""
// if its values are at fault, so that it injects nothing.
func (s *Snapshot) containerName(sidecar *v1alpha1.VectorSidecar) string {
	of := *s
	of.Sidecar = sidecar
	values, invalid := ValuesOf(&of)
	if invalid != nil {
		return ""
	}
	return value(values, "sidecar", "name")
}
