// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package plan compares a workload's sidecar with the desired sidecar. It decides the action and its cause, and
// which plans may be applied now. Causes name keys of the inputs and never their values, because values may be
// secrets. The package makes no API calls.
package plan

import (
	"cmp"
	"fmt"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Action is the action for one workload.
type Action string

const (
	// None means that the workload is up to date.
	None Action = "None"
	// Inject means that the workload has no sidecar of this VectorSidecar yet.
	Inject Action = "Inject"
	// Update means that the sidecar differs from the desired sidecar.
	Update Action = "Update"
	// RecordOnly means that the workload is up to date, but its annotations record another input. Writing them
	// does not restart pods.
	RecordOnly Action = "RecordOnly"
	// Adopt means that the API server has injected the desired sidecar, which has no field manager yet. Writing
	// it does not restart pods.
	Adopt Action = "Adopt"
	// Defer means that the sidecar is missing or differs from the desired sidecar, and that the workload gets
	// it later for Reason. If the plan writes, it records since when the workload waits.
	Defer Action = "Defer"
	// Remove means that the sidecar is to be removed.
	Remove Action = "Remove"
	// Conflict means that other field managers own fields that the write needs.
	Conflict Action = "Conflict"
	// Blocked means that the workload cannot accept the sidecar in its current state.
	Blocked Action = "Blocked"
)

// Plan is the action for one workload, and its cause.
type Plan struct {
	Target workload.Ref
	Action Action
	// Cause explains in one line of limited length why the plan writes. It may be empty for a plan that does
	// not write. It is stored on the workload.
	Cause string
	// Reason is a reason of package meta. Message is a sentence. Both are empty if there is nothing to explain.
	Reason, Message string
	// Competitor is the other VectorSidecar of the conflict, or "" if the conflict is not with a VectorSidecar.
	Competitor string
	// Manager is the field manager of the write.
	Manager string
	// Apply is the body for Inject, Update, Adopt and RecordOnly. It contains all fields of the VectorSidecar
	// in the workload, without the workload's name. It must not be changed.
	Apply map[string]any
	// Patch is a strategic merge patch that makes the whole change at once and is sent before the apply. It is
	// nil if the apply is enough. Some changes need a patch: mounts in the application's containers, items of
	// the manager that it no longer owns, and the removal of a mark of the operator.
	Patch map[string]any
	// ReleaseOnly removes the manager from managedFields instead of applying an empty body. An empty body would
	// also delete remaining items that now belong to other field managers.
	ReleaseOnly bool
	// InitBefore and InitAfter are the other init containers before and after the native sidecars. InitAfter is
	// empty if the order is correct. Applying the names sets the order. The managed fields must be trimmed
	// afterwards.
	InitBefore, InitAfter []string
	// Force overwrites fields of the sidecar that users changed by hand, but never fields of a deployment tool
	// or of another VectorSidecar.
	Force bool
	// Repairs reports whether the plan corrects drift: the workload has the current sidecar, but other field
	// managers changed it.
	Repairs bool
	// AtOnce reports whether the write must not wait for spec.rollout.mode, because it fixes a sidecar that is
	// damaged, incomplete or missing, or does not start pods. It is set only if Policy.Defers is true.
	AtOnce bool
	// MaxAgeExpired reports whether the workload has waited for spec.rollout.maxAge.
	MaxAgeExpired bool
	// Waits reports whether the workload records that it waits for a change.
	Waits bool
	// Desired is the desired sidecar, or nil for none.
	Desired *Desired
	// UnchangedHash is the injected-hash of a sidecar that was written for the current input, although the current
	// rendering differs. The workload gets Desired with the next change. Keeps is "" for other sidecars.
	UnchangedHash string
	// State is the state of the view that the plan is made from.
	workload.State
	// Halted reports whether the workload is paused or being deleted.
	Halted bool
	// IsOwned reports whether the workload has any fields of the VectorSidecar. HasSidecar reports the same for
	// its pod template.
	IsOwned, HasSidecar bool
	// Marked reports whether the workload has copied marks of the VectorSidecar.
	Marked bool
	// Owner is the controller owner of the workload, or nil for none. LastWriter is the last writer of the
	// view.
	Owner      *workload.Owner
	LastWriter string
	// InFlight reports whether a rollout of the operator is in progress, including its soak.
	InFlight bool
	// Failed reports whether the rollout with the current sidecar has failed. PodsBlocked reports whether its
	// pods are blocked by a cause that may pass. Reason names the cause.
	Failed, PodsBlocked bool
	// SidecarFailed reports whether the sidecar is known to be the cause. Obstructed reports whether its pods
	// are known to be rejected or unschedulable.
	SidecarFailed, Obstructed bool
	// Unexplained reports whether the rollout has failed for an unknown cause, because pods are not read. Such
	// a failure stops the VectorSidecar, but does not count for a halt.
	Unexplained bool
	// Container is the container of the sidecar that is the cause, or "" if it is not known.
	Container string
	// FailedBefore reports whether the workload failed before the plan's write, or before the last write if the
	// plan does not write. Such a failure does not count as a failure of the write. HasFailureMark reports
	// whether the workload has the mark of such a failure.
	FailedBefore, HasFailureMark bool
	// IsCanary reports whether the workload is a canary, which receives changes first.
	IsCanary bool
	// HasEvidence reports whether a pod of the workload has run the current sidecar for the soak.
	HasEvidence bool
	// LacksCanary reports whether the action waits because no canary has pods, which may last.
	LacksCanary bool
	// Warning is a message about the sidecar that a user should know but that does not block the write, or ""
	// for none.
	Warning string
	// Waiting reports whether the action has to wait, for Reason.
	Waiting bool
	// Withheld reports whether the write is not retried now because of Denied. Denied is the last rejection of
	// the same write, or nil for none.
	Withheld bool
	Denied   *Denial
}

// Wait makes the action wait.
func (p *Plan) Wait(reason, message string) {
	p.Waiting, p.Reason, p.Message = true, reason, message
}

// Fail marks the rollout with the current sidecar as failed.
func (p *Plan) Fail(reason, message string) {
	p.Failed, p.Reason, p.Message = true, reason, message
}

// Hinder records why pods with the current sidecar are blocked.
func (p *Plan) Hinder(reason, message string) {
	p.PodsBlocked, p.Reason, p.Message = true, reason, message
}

// IsSkipped reports whether the workload is left out without an error, for example because it opted out, is
// paused, or is being deleted.
func (p *Plan) IsSkipped() bool {
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

// WaitsForOthers reports whether the action has to wait for other workloads of its VectorSidecar that finish
// without a user action.
func (p *Plan) WaitsForOthers() bool {
	return p.Waiting && !p.LacksCanary && (p.Reason == meta.ReasonWaitingForSlot || p.Reason == meta.ReasonWaitingForCanary || p.Reason == meta.ReasonWaitingForHealthy)
}

// IsCurrent reports whether the sidecar is up to date.
func (p *Plan) IsCurrent() bool { return p.Action == None || p.IsRecordOnly() }

// InjectedHash returns the hash of the desired sidecar, or "" for none.
func (p *Plan) InjectedHash() string {
	if p.Desired == nil {
		return ""
	}
	return p.Desired.InjectedHash()
}

// WholeHash returns the InjectedHash of the sidecar with all optional annotations, which the API server
// injects. It returns "" if no sidecar is desired.
func (p *Plan) WholeHash() string {
	if p.Desired == nil {
		return ""
	}
	return p.Desired.fullHash
}

// SidecarHash returns the injected-hash of the sidecar in a workload that is up to date.
func (p *Plan) SidecarHash() string { return cmp.Or(p.UnchangedHash, p.Desired.InjectedHash()) }

// obstacle explains why a workload cannot be written to.
type obstacle struct {
	action          Action
	reason, message string
	// competitor has the meaning of Plan.Competitor.
	competitor string
}

// withCompetitor sets the field manager of the conflict.
func (c *obstacle) withCompetitor(manager string) *obstacle {
	c.competitor = meta.SidecarName(manager)
	return c
}

func conflict(format string, args ...any) *obstacle {
	return &obstacle{action: Conflict, reason: meta.ReasonConflict, message: fmt.Sprintf(format, args...)}
}

func blockedObstacle(format string, args ...any) *obstacle {
	return &obstacle{action: Blocked, reason: meta.ReasonBlocked, message: fmt.Sprintf(format, args...)}
}
