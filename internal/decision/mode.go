// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// mode is spec.rollout.mode, and what lets workloads have a change.
type mode struct {
	of     v1alpha1.RolloutMode
	maxAge time.Duration // 0 for ever
	// change is a digest of what people ask for, without the values of single workloads.
	change string
	// isPromoted reports whether a person lets the change go. isEverywhere reports whether all
	// workloads that have a sidecar have it, and some do.
	isPromoted, isEverywhere bool
	// isWayBack reports whether it is the last good spec that goes, in place of one that has failed.
	isWayBack bool
}

// modeOf returns the mode for the workloads that should have the sidecar, nil for Immediate.
func modeOf(sidecar *v1alpha1.VectorSidecar, workloads []Workload) *mode {
	m := &mode{of: sidecar.Spec.RolloutMode(), isWayBack: lastgood.IsBack(sidecar)}
	if m.of == v1alpha1.ModeImmediate {
		return nil
	}
	if rollout := sidecar.Spec.Rollout; rollout.MaxAge != nil {
		m.maxAge = rollout.MaxAge.Duration
	}
	var asked []string
	isBehind := false
	for i := range workloads {
		p := &workloads[i].Evaluated.Plan
		if p.Desired == nil {
			continue
		}
		isBehind = isBehind || p.Action == plan.Update && !p.AtOnce
		m.isEverywhere = m.isEverywhere || p.IsCurrent()
		if workloads[i].Source.IsCommon {
			asked = append(asked, p.Desired.Asked())
		}
	}
	m.isEverywhere = m.isEverywhere && !isBehind
	slices.Sort(asked)
	if asked = slices.Compact(asked); len(asked) == 1 {
		m.change = asked[0]
	} else if len(asked) > 1 { // They get different parts of one configuration.
		m.change = meta.Digest([]byte(strings.Join(asked, " ")), len(asked[0])/2) //nolint:mnd // In hexadecimal.
	}
	m.isPromoted = m.change != "" && sidecar.Annotations[meta.AnnotationPromoteRollout] == m.change
	return m
}

// deferChange has the plan of a workload wait for spec.rollout.mode if it has to, and keeps the note
// on the workload since when.
func (d *Decision) deferChange(facts *Facts, p *plan.Plan, record *workloadcache.Record) {
	m := d.mode
	since, isNoted := p.State.Waits[meta.AnnotationWaiting(p.Manager)]
	isNoted = isNoted && p.Waits
	if p.Action == plan.None && p.Waits {
		view := record.View()
		p.DropWait(&view)
	}
	if m == nil || p.Action != plan.Inject && p.Action != plan.Update || m.lets(facts, p) {
		return
	}
	switch {
	case !isNoted:
		since = workload.NewWait(facts.Now, &p.State)
	case m.of == v1alpha1.ModeOnAppRollout && since.IsOver(&p.State):
		return
	case since.IsForeign():
		since, isNoted = workload.NewWait(since.Since, &p.State), false
	}
	until := ""
	if m.maxAge > 0 {
		end := since.Since.Add(m.maxAge)
		if p.Late = !end.After(facts.Now); p.Late {
			return
		}
		d.again(end.Sub(facts.Now))
		until = "; without that, from " + end.UTC().Format(time.RFC3339) + " on (spec.rollout.maxAge)"
	}
	p.Defer(m.text(facts, p, until))
	if !isNoted && !facts.Now.IsZero() {
		view := record.View()
		p.NoteWait(since, &view)
	}
	d.Deferred.add(m, since.Since)
}

// lets reports whether a workload gets a change at once, whatever its owner does.
func (m *mode) lets(facts *Facts, p *plan.Plan) bool {
	hasFailed := p.Carries && (p.Rollout == workload.RolloutFailed || facts.told(p) == v1alpha1.StateFailed || m.isWayBack && isUnfinished(p))
	switch {
	case p.AtOnce, hasFailed, m.isPromoted: // Its pods do not run because of what it has.
		return true
	case p.Action != plan.Inject:
		return false
	case m.of == v1alpha1.ModeManual:
		return m.isEverywhere // It gets what all others have.
	}
	return !p.Created.Before(facts.Sidecar.CreationTimestamp.Time)
}

// isUnfinished reports whether not all pods of a workload have its template. On the way back these may
// fail as others have, and one that has failed may be told as another state while it waits for its turn.
func isUnfinished(p *plan.Plan) bool {
	return p.Rollout == workload.RolloutProgressing || p.Rollout == workload.RolloutUnavailable
}

// isServedAtAdmission reports whether the API server itself puts what a workload waits for into those
// that their owners change, where it can, so that the change and the sidecar are one rollout.
func (f *Facts) isServedAtAdmission(p *plan.Plan) bool {
	return slices.ContainsFunc(f.Offers, func(offer desired.Offer) bool {
		return offer.Rendered.Desired.InjectedHash() == p.WholeHash() && f.objection(&offer) == ""
	})
}

// isHeldBack reports whether a workload that is new has to wait for a person.
func (m *mode) isHeldBack() bool {
	return m != nil && m.of == v1alpha1.ModeManual && !m.isPromoted && !m.isEverywhere
}

// text says what a workload waits for.
func (m *mode) text(facts *Facts, p *plan.Plan, until string) (reason, message string) {
	if m.of == v1alpha1.ModeManual {
		return meta.ReasonWaitingForPerson, fmt.Sprintf("it gets this when a person says so: kubectl vectorsidecar rollout promote vectorsidecar/%s (spec.rollout.mode)%s", facts.Sidecar.Name, until)
	}
	how := "by a second rollout right after its own"
	if facts.isServedAtAdmission(p) {
		how = "in the same rollout where the API server can put it in (admissionInjection), and else by a second one right after it"
	}
	return meta.ReasonWaitingForOwner, fmt.Sprintf("it gets this with its owner's next change of the pod template, %s (spec.rollout.mode)%s", how, until)
}

// Deferred is what waits for spec.rollout.mode.
type Deferred struct {
	Workloads int
	// Since is when the one began to wait that has waited longest.
	Since time.Time
	// Due is when that one will have waited for spec.rollout.maxAge; zero for never.
	Due time.Time
	// Change names what they wait for.
	Change string
}

func (d *Deferred) add(m *mode, since time.Time) {
	if d.Workloads == 0 || since.Before(d.Since) {
		d.Since = since
	}
	if m.maxAge > 0 {
		d.Due = d.Since.Add(m.maxAge)
	}
	d.Workloads, d.Change = d.Workloads+1, m.change
}

// Status is that of a VectorSidecar, nil if nothing waits.
func (d *Deferred) Status() *v1alpha1.DeferredStatus {
	if d.Workloads == 0 {
		return nil
	}
	since := metav1.NewTime(d.Since)
	return &v1alpha1.DeferredStatus{Workloads: int32(d.Workloads), Since: &since, Change: d.Change} //nolint:gosec // No namespace has two billion.
}
