// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package plan compares the sidecar in a workload with the desired sidecar. It returns a Plan for each workload
// with the change and its cause, and decides which plans may be applied now. Causes name only the keys of
// inputs and never their values, because values may be secrets. The package makes no API calls.
package plan

import (
	"cmp"
	"slices"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Change is the kind of change that a plan writes to one workload, now or after its block has ended.
type Change string

const (
	// None means that the workload is up to date.
	None Change = "None"
	// Inject means that the workload does not have a sidecar of the VectorSidecar yet.
	Inject Change = "Inject"
	// Update means that the workload's sidecar differs from the desired sidecar.
	Update Change = "Update"
	// RecordOnly means that the workload's sidecar is up to date, but the annotations record another input. A
	// write of the annotations does not restart pods.
	RecordOnly Change = "RecordOnly"
	// Adopt means that the API server has injected the desired sidecar, and that no field manager owns it yet.
	// An apply of the sidecar does not restart pods.
	Adopt Change = "Adopt"
	// Remove means that the sidecar must be removed.
	Remove Change = "Remove"
)

// Plan is the planned change of one workload, with the state of the workload's rollout.
type Plan struct {
	Target workload.Ref
	// Workload is the state of the workload from its view.
	Workload workload.State
	// Owner is the controller owner of the workload, or nil for none. LastWriter is the field manager that last wrote
	// the workload.
	Owner      *workload.Owner
	LastWriter string
	// Manager is the field manager that writes the sidecar.
	Manager string
	// Existing is the sidecar that the workload has now.
	Existing Existing
	// Desired is the desired sidecar, or nil if the workload should not have a sidecar. Change is the change towards
	// it.
	Desired *Desired
	Change  Change
	// Write is the content of the write.
	Write Write
	// Block explains why the plan does not write its change now. It is nil if the plan may write the change, or has no
	// change.
	Block *Block
	// Rollout is the state of the rollout of the current sidecar.
	Rollout Rollout
	// Warning is a warning about the sidecar for users that does not block the write, or "" for none.
	Warning string
	// OwnerNotice is a message for users about the controller owner of a workload that gets its first sidecar, or ""
	// for none.
	OwnerNotice string
	// Halted is true if the workload is paused or being deleted, so that its pods do not change.
	Halted bool
	// IsCanary reports whether the workload is a canary, which receives changes first.
	IsCanary bool
	// MaxAgeExpired reports whether the workload has waited for its change for as long as spec.rollout.maxAge.
	MaxAgeExpired bool
	// Rejection is the last rejection of the same write by the API server, or nil for none.
	Rejection *Rejection
}

// Existing describes the sidecar of the VectorSidecar in a workload before the plan's write.
type Existing struct {
	// IsOwned reports whether the workload has any fields of the VectorSidecar. HasSidecar reports whether its
	// pod template has containers or volumes of the VectorSidecar.
	IsOwned, HasSidecar bool
	// IsMarked reports whether the workload has annotations of the VectorSidecar that the field manager of the
	// VectorSidecar does not own.
	IsMarked bool
	// Waits is true if an annotation of the workload records that it waits for a change.
	Waits bool
	// HasFailureMark reports whether an annotation marks the workload as failed before the last write.
	HasFailureMark bool
	// UnchangedHash is the injected-hash of a sidecar that an earlier release rendered from the current input. Such a
	// sidecar stays unchanged until the input changes, although the current release renders it differently. It is ""
	// for all other sidecars.
	UnchangedHash string
}

// Write is the content of a plan's write: an optional patch, and an optional apply after it.
type Write struct {
	// Cause explains why the plan writes, in one line of limited length, and is stored on the workload. It may be ""
	// for a plan that does not write.
	Cause string
	// Apply is the body of the apply for Inject, Update, Adopt and RecordOnly: all fields of the VectorSidecar in the
	// workload, but not the workload's name. It must not be changed.
	Apply map[string]any
	// Patch is a strategic merge patch that is sent before the apply and makes the whole change. It is nil if the apply
	// is sufficient. An apply cannot add mounts to the application's containers, and cannot remove items that the
	// manager no longer owns.
	Patch map[string]any
	// ReleaseOnly reports whether the manager's entry is removed from managedFields, instead of applying an empty body.
	// An empty body would also delete items that now belong to other field managers.
	ReleaseOnly bool
	// InitBefore and InitAfter are the names of the workload's other init containers before and after the native
	// sidecars. InitAfter is empty if the order is already correct. The apply sets the order by listing these names,
	// and the managed fields must be trimmed afterwards.
	InitBefore, InitAfter []string
	// Force reports whether the apply overwrites fields of the sidecar that users have changed by hand. It
	// never overwrites fields of a deployment tool or of another VectorSidecar.
	Force bool
	// Repairs is true if the write corrects drift: other field managers have changed the current sidecar.
	Repairs bool
	// AtOnce is true if the write must not wait for spec.rollout.mode, because it fixes a sidecar that is damaged,
	// incomplete or missing, or does not start pods. It is set only if Policy.Defers is true.
	AtOnce bool
}

// Rollout is the state of the rollout of a workload's current sidecar.
type Rollout struct {
	// Reason and Message explain the phase to users. Both are "" if there is nothing to explain.
	Reason, Message string
	// Phase is the phase of the rollout.
	Phase RolloutPhase
	// InFlight reports whether a rollout of the operator is in progress, including the soak. Failed and blocked
	// rollouts may be in progress, also while the plan waits to write another change.
	InFlight bool
	// SidecarFailed is true if the sidecar is certainly the cause of the failure. Obstructed is true if the pods are
	// certainly rejected or unschedulable.
	SidecarFailed, Obstructed bool
	// Unexplained reports whether the cause of a failed rollout is unknown, because the operator has no permission to
	// read pods. Such a failure stops the rollouts of the VectorSidecar, but does not count for rollout.halt.
	Unexplained bool
	// FailedBefore reports whether the workload had already failed before the plan's write, or before the last write if
	// the plan does not write. Such a failure is not a failure of the write.
	FailedBefore bool
	// HasEvidence reports whether a pod of the workload has run the current sidecar for the soak time.
	HasEvidence bool
	// Container is the name of the sidecar's container that is the cause of the failure, or "" if it is
	// unknown.
	Container string
}

// Writes reports whether the plan sends a write now: its change, or the record of its block.
func (p *Plan) Writes() bool {
	return p.Block == nil && (p.StartsPods() || p.isRecordOnly()) || p.Record() != nil
}

// HasChange reports whether the plan makes one of the changes, now or after its block has ended. It returns false, also
// for None, if the plan has discarded its change.
func (p *Plan) HasChange(changes ...Change) bool {
	return !p.isDropped() && slices.Contains(changes, p.Change)
}

// StartsPods reports whether the plan changes the pod template, now or later.
func (p *Plan) StartsPods() bool { return p.HasChange(Inject, Update, Remove) }

// IsCurrent reports whether the workload's sidecar is up to date.
func (p *Plan) IsCurrent() bool { return p.HasChange(None, RecordOnly, Adopt) }

// InjectedHash returns the injected-hash of the desired sidecar, or "" if no sidecar is desired.
func (p *Plan) InjectedHash() string {
	if p.Desired == nil {
		return ""
	}
	return p.Desired.InjectedHash()
}

// WholeHash returns the injected-hash of the desired sidecar with all optional annotations, which the API server
// injects. It returns "" if no sidecar is desired.
func (p *Plan) WholeHash() string {
	if p.Desired == nil {
		return ""
	}
	return p.Desired.fullHash
}

// SidecarHash returns the injected-hash of the sidecar in the workload. It must be called only if that sidecar is up to
// date.
func (p *Plan) SidecarHash() string {
	return cmp.Or(p.Existing.UnchangedHash, p.Desired.InjectedHash())
}
