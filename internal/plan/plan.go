// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package plan compares what a workload should carry with what it carries, names what
// has to be done and why, and says which of the plans may be carried out now. Why names keys
// of what the sidecar is rendered from and shows no values of theirs, which may be secrets.
// It writes nothing and knows no cluster.
package plan

import (
	"cmp"
	"fmt"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
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
	// Competitor is another VectorSidecar that what is in the way belongs to, "" if it
	// is nobody's or not of the operator's making.
	Competitor string
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
	// ReleaseOnly drops the manager from the record of who owns what, in place of applying
	// nothing: what is left of its items is somebody else's, and would go with it.
	ReleaseOnly bool
	// InitBefore and InitAfter are the other init containers, between which the native sidecars
	// have to come. InitAfter is empty when the order is right. Writing them down orders
	// them, and then the record has to be trimmed.
	InitBefore, InitAfter []string
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

// obstacle is why a workload cannot be written to.
type obstacle struct {
	action          Action
	reason, message string
	// competitor is as in a Plan.
	competitor string
}

// of notes the field manager that what is in the way belongs to.
func (c *obstacle) of(manager string) *obstacle {
	c.competitor = meta.SidecarOf(manager)
	return c
}

func conflict(format string, args ...any) *obstacle {
	return &obstacle{action: Conflict, reason: meta.ReasonConflict, message: fmt.Sprintf(format, args...)}
}

func blocked(format string, args ...any) *obstacle {
	return &obstacle{action: Blocked, reason: meta.ReasonBlocked, message: fmt.Sprintf(format, args...)}
}
