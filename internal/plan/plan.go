// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package plan compares a workload's sidecar with the desired one, decides what to do
// and why, and which plans may be carried out now. Causes name keys of the inputs and
// never their values, which may be secrets. It writes nothing and knows no cluster.
package plan

import (
	"cmp"
	"fmt"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Action is what to do with one workload.
type Action string

const (
	// None means that the workload is up to date.
	None Action = "None"
	// Inject means that the workload has nothing of this VectorSidecar yet.
	Inject Action = "Inject"
	// Update means that the sidecar differs from the desired one.
	Update Action = "Update"
	// RecordOnly means that the workload is up to date but its annotations note another
	// input. Writing them restarts no pods.
	RecordOnly Action = "RecordOnly"
	// Adopt means that the API server has put the desired sidecar in itself, and nobody owns
	// it yet. Writing it restarts no pods.
	Adopt Action = "Adopt"
	// Defer means that the sidecar differs from the desired one, or is not there yet, and that
	// the workload gets it later for Reason. What it writes, if anything, notes since when.
	Defer Action = "Defer"
	// Remove means that the sidecar is to be removed.
	Remove Action = "Remove"
	// Conflict means that somebody else owns fields that we would have to write.
	Conflict Action = "Conflict"
	// Blocked means that the workload cannot take the sidecar as it is.
	Blocked Action = "Blocked"
)

// Plan is what to do with one workload, and why.
type Plan struct {
	Target workload.Ref
	Action Action
	// Cause says in one bounded line why the plan writes; it may be empty for a plan
	// that does not. It is stored on the workload.
	Cause string
	// Reason is one of the reasons in package meta, Message a sentence; both are empty
	// if there is nothing to explain.
	Reason, Message string
	// Competitor is the other VectorSidecar that the conflict is with, "" if it is with
	// none.
	Competitor string
	// Manager is the field manager to write as.
	Manager string
	// Apply is the body for Inject, Update, Adopt and RecordOnly: all that the VectorSidecar wants
	// in the workload, without its name. It must not be changed.
	Apply map[string]any
	// Patch is a strategic merge patch that makes the whole change at once and is sent
	// before the apply; nil if the apply is enough. These can only be patched: mounts
	// in the application's containers, items of the manager that it no longer owns, and
	// the removal of a mark of the operator.
	Patch map[string]any
	// ReleaseOnly drops the manager from managedFields instead of applying nothing:
	// what is left of its items is somebody else's and would be deleted with it.
	ReleaseOnly bool
	// InitBefore and InitAfter are the other init containers before and after the
	// native sidecars. InitAfter is empty if the order is right. Applying the names
	// sets the order; the managed fields have to be trimmed afterwards.
	InitBefore, InitAfter []string
	// Force takes fields of ours back from people who changed them by hand, but never
	// from a deployer or another VectorSidecar.
	Force bool
	// Repairs reports whether the workload has the current sidecar, changed by somebody
	// else.
	Repairs bool
	// AtOnce reports whether the write must not wait for spec.rollout.mode: it mends a sidecar that
	// is damaged, half written or gone, or starts no pods. It is set if Policy.Defers.
	AtOnce bool
	// Late reports whether the workload has waited for spec.rollout.maxAge.
	Late bool
	// Waits reports whether the workload notes that it waits for a change.
	Waits bool
	// Desired is what the workload should carry, nil for nothing.
	Desired *Desired
	// Keeps is the injected-hash of a sidecar that is no longer the current rendering
	// but was written for the current input: Desired comes with the next change.
	// Otherwise it is "".
	Keeps string
	// State is that of the view that was planned from.
	workload.State
	// Halted reports whether the workload is paused or being deleted.
	Halted bool
	// Carries reports whether the workload carries anything of the VectorSidecar, HasParts
	// whether its pod template does.
	Carries, HasParts bool
	// Marked reports whether the workload has marks of the VectorSidecar that others have copied.
	Marked bool
	// Owner is the object by which another operator owns the workload, nil for none, and
	// LastWriter the View's.
	Owner      *workload.Owner
	LastWriter string
	// InFlight reports whether a rollout that we started has not finished, including
	// its soak.
	InFlight bool
	// Failed reports whether the rollout with the current sidecar has failed, PodsBlocked
	// whether something that may pass keeps its pods from running. Reason says which.
	Failed, PodsBlocked bool
	// SidecarFailed reports whether the sidecar is the cause, as far as is known, and Obstructed whether it
	// is known that its pods were refused or found no node.
	SidecarFailed, Obstructed bool
	// Unexplained reports whether the rollout has failed and the cause is not known, because pods are not read: that
	// stops the VectorSidecar, and counts for no halt.
	Unexplained bool
	// Container is the container of the sidecar that is the cause, "" if that is not known.
	Container string
	// FailedBefore reports whether the workload failed before the write that the plan makes, or before the
	// last one if it makes none: that does not count as a failure of the write. HasFailureMark reports whether
	// the workload has the mark of that.
	FailedBefore, HasFailureMark bool
	// IsCanary reports whether the workload gets a change before those that are none.
	IsCanary bool
	// HasEvidence reports whether a pod of the workload has run the current sidecar for the soak.
	HasEvidence bool
	// LacksCanary reports whether the action waits because no canary has pods, which may last.
	LacksCanary bool
	// Warning is something about the sidecar that a person should know but that blocks
	// nothing; "" for nothing.
	Warning string
	// Waiting reports whether the action has to wait, for Reason.
	Waiting bool
	// Withheld reports whether it is not tried now because of Denied: how the same write was refused when it was last
	// tried, nil if it was not.
	Withheld bool
	Denied   *Denial
}

// Wait holds the action back.
func (p *Plan) Wait(reason, message string) {
	p.Waiting, p.Reason, p.Message = true, reason, message
}

// Fail marks the rollout with the current sidecar as failed.
func (p *Plan) Fail(reason, message string) {
	p.Failed, p.Reason, p.Message = true, reason, message
}

// Hinder records what keeps pods with the current sidecar from running.
func (p *Plan) Hinder(reason, message string) {
	p.PodsBlocked, p.Reason, p.Message = true, reason, message
}

// Skipped reports whether the workload opted out, is paused, is being deleted, or is of a
// sort that is left out: not an error.
func (p *Plan) Skipped() bool {
	switch p.Reason {
	case meta.ReasonOptedOut, meta.ReasonWorkloadPaused, meta.ReasonWorkloadDeleting, meta.ReasonHostNetwork, meta.ReasonWindows, meta.ReasonSuperseded,
		meta.ReasonTemplateInWorkloadRef, meta.ReasonApplicationRejected, meta.ReasonOwnedBy:
		return p.Action == Blocked
	}
	return false
}

// Writes reports whether the plan changes the workload now.
func (p *Plan) Writes() bool {
	return !p.Waiting && !p.Withheld && (p.StartsPods() || p.IsRecordOnly() || p.Action == Defer && p.Apply != nil)
}

// StartsPods reports whether the plan changes the pod template, now or later.
func (p *Plan) StartsPods() bool {
	return p.Action == Inject || p.Action == Update || p.Action == Remove
}

// WaitsForOthers reports whether the action has to wait for other workloads of its VectorSidecar,
// which will be done by themselves.
func (p *Plan) WaitsForOthers() bool {
	return p.Waiting && !p.LacksCanary && (p.Reason == meta.ReasonWaitingForSlot || p.Reason == meta.ReasonWaitingForCanary || p.Reason == meta.ReasonWaitingForHealthy)
}

// IsCurrent reports whether the sidecar is up to date.
func (p *Plan) IsCurrent() bool { return p.Action == None || p.IsRecordOnly() }

// InjectedHash is the hash of the desired sidecar, "" if none is desired.
func (p *Plan) InjectedHash() string {
	if p.Desired == nil {
		return ""
	}
	return p.Desired.InjectedHash()
}

// WholeHash is the InjectedHash of the sidecar with all annotations that yield, which is what the API
// server puts in; "" without one.
func (p *Plan) WholeHash() string {
	if p.Desired == nil {
		return ""
	}
	return p.Desired.whole
}

// Carried is the injected-hash of the sidecar in a workload that is up to date.
func (p *Plan) Carried() string { return cmp.Or(p.Keeps, p.Desired.InjectedHash()) }

// obstacle is why a workload cannot be written to.
type obstacle struct {
	action          Action
	reason, message string
	// competitor is as in a Plan.
	competitor string
}

// of sets the field manager that the conflict is with.
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
