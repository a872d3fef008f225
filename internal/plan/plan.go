// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package plan compares what a workload should carry with what it carries, names what
// has to be done, and says which of the plans may be carried out now. It writes nothing
// and knows no cluster.
package plan

import (
	"cmp"
	"fmt"

	"kontroloop.ai/vector-sidecar-operator/internal/cause"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Action is what has to be done to one workload.
type Action string

const (
	// None means that the workload is as it should be.
	None Action = "None"
	// Inject means that the workload carries nothing of this VectorSidecar yet.
	Inject Action = "Inject"
	// Update means that what it carries is not what it should carry.
	Update Action = "Update"
	// Note means that the workload is as it should be, and says otherwise of what it
	// was asked for with. To write that down starts no pods.
	Note Action = "Note"
	// Remove means that what it carries has to go.
	Remove Action = "Remove"
	// Conflict means that somebody else owns what we would have to write.
	Conflict Action = "Conflict"
	// Blocked means that the workload cannot take the sidecar as it is.
	Blocked Action = "Blocked"
)

// Plan is what has to be done to one workload, and why.
type Plan struct {
	Target workload.Ref
	Action Action
	// Cause says why the plan writes, in one line that is not too long; it may be empty
	// for a plan that does not. Workloads carry it.
	Cause string
	// Reason is a word of package meta, Message a sentence; both are empty
	// when there is nothing to explain.
	Reason, Message string
	// Rival is another VectorSidecar that what is in the way belongs to, "" if it
	// is nobody's or not of the operator's making.
	Rival string
	// Manager is the field manager to write as.
	Manager string
	// Apply is what is applied for Inject, Update and Note: the whole of what the
	// VectorSidecar wants of the workload, without its name. It must not be
	// changed.
	Apply map[string]any
	// Patch is a strategic merge patch that makes the whole change at once and is
	// sent before anything is applied; nil where applying does all. What can only
	// be patched: mounts in the application's containers, what is the manager's
	// without its owning it, and a mark of the operator's own that has to go.
	Patch map[string]any
	// Disown drops the manager from the record of who owns what, in place of applying
	// nothing: what is left of its items is somebody else's, and would go with it.
	Disown bool
	// Ahead and Behind are the other init containers, between which the native sidecars
	// have to come. Behind is empty when the order is right. Writing them down orders
	// them, and then the record has to be trimmed.
	Ahead, Behind []string
	// Force takes fields of ours back from people who changed them by hand. It
	// never takes any from a deployer or another VectorSidecar.
	Force bool
	// Repairs tells that the sidecar in the workload is the current one, changed
	// by somebody else.
	Repairs bool
	// Desired is what the workload should carry, nil for nothing.
	Desired *Desired
	// Keeps is the injected-hash of what the workload carries if that is no more what
	// is rendered, and yet was written for what is asked for now: what is Desired
	// comes with the next change. Else it is "".
	Keeps string
	// State is that of the view planned from.
	workload.State
	// Halted tells that the workload's owner has paused it, or deletes it.
	Halted bool
	// Carries tells that the workload carries something of the VectorSidecar.
	Carries bool
	// InFlight tells that a rollout that we started has not finished, soaking included.
	InFlight bool
	// Failed reports whether the rollout with the current sidecar has failed, and
	// Hindered whether something keeps its pods from running that may pass, both for
	// Reason.
	Failed, Hindered bool
	// Warning is something about the sidecar that a person should know though
	// it stops nothing; "" for nothing.
	Warning string
	// Waiting tells that the action has to wait, for Reason.
	Waiting bool
}

// Wait holds the action back.
func (p *Plan) Wait(reason, message string) {
	p.Waiting, p.Reason, p.Message = true, reason, message
}

// Fail notes that the rollout with the current sidecar has failed.
func (p *Plan) Fail(reason, message string) {
	p.Failed, p.Reason, p.Message = true, reason, message
}

// Hinder notes what keeps pods with the current sidecar from running.
func (p *Plan) Hinder(reason, message string) {
	p.Hindered, p.Reason, p.Message = true, reason, message
}

// Skipped tells that the workload is left out by its owner's wish or state, which
// is nobody's mistake.
func (p *Plan) Skipped() bool {
	switch p.Reason {
	case meta.ReasonOptedOut, meta.ReasonWorkloadPaused, meta.ReasonWorkloadDeleting:
		return p.Action == Blocked
	}
	return false
}

// Writes tells whether the plan changes the workload now.
func (p *Plan) Writes() bool {
	return !p.Waiting && (p.StartsPods() || p.Action == Note)
}

// StartsPods reports whether the plan comes to a change of the pod template, now or
// in its turn.
func (p *Plan) StartsPods() bool {
	return p.Action == Inject || p.Action == Update || p.Action == Remove
}

// IsCurrent reports whether the workload is as it should be.
func (p *Plan) IsCurrent() bool { return p.Action == None || p.Action == Note }

// InjectedHash is that of what the workload should carry, "" for nothing.
func (p *Plan) InjectedHash() string {
	if p.Desired == nil {
		return ""
	}
	return p.Desired.InjectedHash()
}

// Carried is the injected-hash of what the workload carries if it is as it should be.
func (p *Plan) Carried() string { return cmp.Or(p.Keeps, p.Desired.InjectedHash()) }

// Policy is what a VectorSidecar wishes of a plan beside the result.
type Policy struct {
	// StrictOrder makes a native sidecar that another writer's init container
	// got ahead of a reason for an update. Without it, the order is mended
	// together with the next change: it costs new pods.
	StrictOrder bool
	// ReportDrift leaves what a person changed as it is.
	ReportDrift bool
	// Renew writes what is rendered now over a sidecar that would be kept.
	Renew bool
	// Second leaves the annotations without a name in their keys to another
	// VectorSidecar, which comes first and has not written yet.
	Second bool
	// Texts remembers what plans say; nil remembers nothing.
	Texts *Texts
}

func newPlan(manager string, desired *Desired, view *workload.View) Plan {
	_, carries := view.Owned[manager]
	return Plan{
		Target: view.Ref, State: view.State, Halted: view.Paused || view.Deleting,
		Action: None, Manager: manager, Desired: desired, Carries: carries,
	}
}

// ForBlocked is the plan of a workload for which there is nothing to apply. One that
// is left out by its owner is that in the first place.
func ForBlocked(manager string, view *workload.View, reason, message string) Plan {
	if isLeftOut(view) {
		return forLeftOut(manager, nil, view)
	}
	plan := newPlan(manager, nil, view)
	plan.Action, plan.Reason, plan.Message = Blocked, reason, message
	return plan
}

// ForReported is the plan of a workload that carries what it should, as somebody says who
// knows: what is desired is what it carries.
func ForReported(manager string, view *workload.View) Plan {
	desired := &Desired{overlay: &render.Overlay{}, injectedHash: view.Owned[manager].InjectedHash}
	if isLeftOut(view) {
		return forLeftOut(manager, desired, view)
	}
	return newPlan(manager, desired, view)
}

// ForRemoval plans a workload that should carry nothing of a manager's.
func ForRemoval(manager string, view *workload.View) Plan {
	plan := newPlan(manager, nil, view)
	if plan.Carries && !view.Deleting {
		plan.Action = Remove
		plan.block(plan.takeOut(view))
		if owned := view.Owned[manager]; owned.IsEmpty() && plan.Patch == nil {
			plan.Action, plan.Disown = Note, true
		}
	}
	return plan
}

// isLeftOut tells whether a workload gets no sidecar by its owner's wish or state.
func isLeftOut(view *workload.View) bool { return view.Deleting || view.OptOut != "" }

func forLeftOut(manager string, desired *Desired, view *workload.View) Plan {
	plan := newPlan(manager, desired, view)
	switch {
	case view.Deleting:
		plan.Action, plan.Reason, plan.Message = Blocked, meta.ReasonWorkloadDeleting, "the workload is being deleted"
	case plan.Carries:
		plan = ForRemoval(manager, view)
		plan.Cause = fmt.Sprintf("the workload's annotation %s is %s", meta.AnnotationInject, cause.Printable(view.OptOut))
		return plan
	default:
		plan.Action, plan.Desired, plan.Reason = Blocked, nil, meta.ReasonOptedOut
		plan.Message = fmt.Sprintf("its annotation %s is %s", meta.AnnotationInject, view.OptOut)
	}
	return plan
}

// For plans a workload that should carry what is desired.
func For(manager string, desired *Desired, policy Policy, view *workload.View) Plan {
	if isLeftOut(view) {
		return forLeftOut(manager, desired, view)
	}
	plan := newPlan(manager, desired, view)
	owned, carries := view.Owned[manager]
	want := desired.beside(manager, policy, view)
	has := fitOf(manager, desired, &want, policy, view)
	clash := findClash
	if has.isKept {
		clash = keptClash
	}
	isHalf := owned.Named || owned.Unfinished && has.isCurrent()
	switch clash := clash(manager, desired, view); {
	case isHalf:
		// The record is trimmed; the next pass does what else there is.
		plan.Action, plan.Cause = Note, becauseHalf
	case clash != nil:
		plan.Action, plan.Reason, plan.Message, plan.Rival = clash.action, clash.reason, clash.message, clash.rival
	case view.Paused && (!carries || !has.isCurrent()):
		plan.Action, plan.Reason, plan.Message = Blocked, meta.ReasonWorkloadPaused, "its rollouts are paused; it gets the sidecar when they are resumed"
	case !carries, owned.IsEmpty():
		plan.write(Inject, want, has, policy, view)
	case has.isKept && policy.StrictOrder && isBehind(manager, view), has.isRendered && policy.StrictOrder && isMisplaced(manager, desired, view):
		plan.write(Update, want, has, policy, view)
	case has.isKept:
		plan.Keeps = owned.InjectedHash
	case has.isRendered:
		if has.needsNote(manager, &want, desired, view) {
			plan.note(want, has, policy, view)
		}
	case !has.isAsked && owned.InjectedHash != desired.InjectedHash(), owned.HasPlainAnnotations != want.isPlain, owned.Unfinished:
		plan.write(Update, want, has, policy, view)
	case policy.ReportDrift:
		plan.Action, plan.Reason = Blocked, meta.ReasonDrifted
		plan.Message = fmt.Sprintf("the sidecar in it was changed (the last writer on record is %q), and spec.driftPolicy is Report", view.LastWriter)
	default:
		plan.write(Update, want, has, policy, view)
		plan.Repairs = true
	}
	return plan
}

// note writes down what was asked for, and leaves the cause of what is there.
func (p *Plan) note(want applied, has fit, policy Policy, view *workload.View) {
	p.Action, p.Force = Note, !policy.ReportDrift
	p.Cause = p.because(want, has, policy, view)
	p.Apply = p.noted(want, view.Owned[p.Manager].ChangeCause, policy, view)
}

func (p *Plan) write(action Action, want applied, has fit, policy Policy, view *workload.View) {
	p.Action, p.Force = action, !policy.ReportDrift
	p.Cause = p.because(want, has, policy, view)
	p.Apply = p.noted(want, p.Cause, policy, view)
	p.Ahead, p.Behind = order(p.Manager, p.Desired, view)
	patch, err := patchToApply(p, view)
	p.Patch = patch
	p.block(err)
}

// block holds a plan that could not be made.
func (p *Plan) block(err error) {
	if err != nil {
		p.Action, p.Reason, p.Message = Blocked, meta.ReasonBlocked, err.Error()
	}
}

// clash is why a workload cannot be written to.
type clash struct {
	action          Action
	reason, message string
	// rival is as in a Plan.
	rival string
}

// of notes the field manager that what is in the way belongs to.
func (c *clash) of(manager string) *clash {
	c.rival = meta.SidecarOf(manager)
	return c
}

func conflict(format string, args ...any) *clash {
	return &clash{action: Conflict, reason: meta.ReasonConflict, message: fmt.Sprintf(format, args...)}
}

func blocked(format string, args ...any) *clash {
	return &clash{action: Blocked, reason: meta.ReasonBlocked, message: fmt.Sprintf(format, args...)}
}
