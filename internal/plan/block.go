// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"time"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// Block explains why a plan does not write its change now. Code depends only on Kind and Record. A Block must not be
// changed, because plans share it.
type Block struct {
	Kind BlockKind
	// Reason is a condition reason of package meta. Message is a sentence. Both are for users.
	Reason, Message string
	// Until is the time when the block ends, or zero if an event ends it.
	Until time.Time
	// Competitor is the name of the VectorSidecar that causes the block, or "" if none does.
	Competitor string
	// Record is the body of an apply that records since when the workload waits. The plan sends this apply although it
	// is blocked. It is nil if nothing is recorded.
	Record map[string]any
}

// BlockKind is the reason for a Block, for code.
type BlockKind string

// With these kinds of a block, the change waits.
const (
	// BlockedBySlot and BlockedByGlobalSlot mean that all rollout slots are in use: the slots of the VectorSidecar,
	// or the slots of all VectorSidecars.
	BlockedBySlot       BlockKind = "Slot"
	BlockedByGlobalSlot BlockKind = "GlobalSlot"
	// BlockedByCanary means that a canary rolls out. BlockedByMissingCanary means that no canary has pods.
	BlockedByCanary        BlockKind = "Canary"
	BlockedByMissingCanary BlockKind = "MissingCanary"
	// BlockedByHealthy means that the workload failed before the change, and that healthy workloads get their slots first.
	BlockedByHealthy BlockKind = "Healthy"
	// BlockedByPause means that spec.rollout.paused is true.
	BlockedByPause BlockKind = "Pause"
	// BlockedByFailure means that the rollout of another workload has failed.
	BlockedByFailure BlockKind = "Failure"
	// BlockedByWindow means that no rollout window is open.
	BlockedByWindow BlockKind = "Window"
	// BlockedByWave means that the wave of the VectorSidecar has not started. BlockedByHalt means that the rollout
	// of the revision is halted.
	BlockedByWave BlockKind = "Wave"
	BlockedByHalt BlockKind = "Halt"
	// BlockedByStop means that a user has stopped all writes of the installation. BlockedByRevision means that
	// ConfigMaps of the revision are missing.
	BlockedByStop     BlockKind = "Stop"
	BlockedByRevision BlockKind = "Revision"
	// BlockedBySteps means that an Argo Rollout goes through its steps.
	BlockedBySteps BlockKind = "Steps"
	// BlockedByRemoval means that another VectorSidecar removes its container first.
	BlockedByRemoval BlockKind = "Removal"
	// BlockedByValidation means that Vector checks the configuration. BlockedByValidator means that Vector could
	// not check it.
	BlockedByValidation BlockKind = "Validation"
	BlockedByValidator  BlockKind = "Validator"
	// BlockedByError means that the VectorSidecar has an error.
	BlockedByError BlockKind = "Error"
	// BlockedByRetry means that the write was not made or failed, and is repeated.
	BlockedByRetry BlockKind = "Retry"
	// BlockedByReport means that the plan was read from the status of a VectorSidecar, which does not contain the kind.
	BlockedByReport BlockKind = "Report"
	// BlockedByRejection means that the API server has rejected the same write.
	BlockedByRejection BlockKind = "Rejection"
)

// With these kinds of a block, the workload gets the change only with a later event, or not at all.
const (
	// BlockedByMode means that spec.rollout.mode defers the change.
	BlockedByMode BlockKind = "Mode"
	// BlockedByAdmission means that the API server injects the sidecar when the owner writes the workload.
	BlockedByAdmission BlockKind = "Admission"
	// BlockedByOptOut means that the workload opts out. BlockedByExclusion means that the workload is excluded for
	// another reason that is not an error, for example because it is paused or being deleted.
	BlockedByOptOut    BlockKind = "OptOut"
	BlockedByExclusion BlockKind = "Exclusion"
	// BlockedByConflict means that other field managers own fields that the sidecar needs.
	BlockedByConflict BlockKind = "Conflict"
	// BlockedByOwnerRemoval means that a controller owner has removed the sidecar.
	BlockedByOwnerRemoval BlockKind = "OwnerRemoval"
	// BlockedByInvalidConfig means that Vector rejected the configuration. BlockedByObstacle means that the workload
	// cannot have the sidecar for another reason, or that the sidecar is not allowed.
	BlockedByInvalidConfig BlockKind = "InvalidConfig"
	BlockedByObstacle      BlockKind = "Obstacle"
)

// blockTraits are the properties of a BlockKind. The methods of BlockKind explain them.
type blockTraits struct {
	state                                  v1alpha1.WorkloadState
	endsByItself, isLongWait, blocksOthers bool
	// dropsChange reports whether the plan discards its change, so that a later decision plans the change again.
	dropsChange bool
}

// traits returns the properties of each kind.
func (k BlockKind) traits() blockTraits {
	//exhaustive:enforce
	switch k {
	case BlockedBySlot, BlockedByGlobalSlot, BlockedByCanary, BlockedByHealthy:
		return blockTraits{state: v1alpha1.StateWaiting, endsByItself: true, blocksOthers: true}
	case BlockedByWindow, BlockedByWave, BlockedByHalt:
		return blockTraits{state: v1alpha1.StateWaiting, isLongWait: true, blocksOthers: true}
	case BlockedByPause:
		return blockTraits{state: v1alpha1.StateWaiting}
	case BlockedByMissingCanary, BlockedByFailure, BlockedByStop, BlockedByRevision, BlockedBySteps,
		BlockedByValidation, BlockedByValidator, BlockedByError, BlockedByRetry, BlockedByReport:
		return blockTraits{state: v1alpha1.StateWaiting, blocksOthers: true}
	case BlockedByRemoval: // A container of the same name stopped the comparison, so the change is not complete.
		return blockTraits{state: v1alpha1.StateWaiting, blocksOthers: true, dropsChange: true}
	case BlockedByRejection:
		return blockTraits{state: v1alpha1.StateRejected, blocksOthers: true}
	case BlockedByMode, BlockedByAdmission:
		return blockTraits{state: v1alpha1.StateDeferred, blocksOthers: true, dropsChange: true}
	case BlockedByOptOut, BlockedByExclusion:
		return blockTraits{state: v1alpha1.StateSkipped, blocksOthers: true, dropsChange: true}
	case BlockedByConflict:
		return blockTraits{state: v1alpha1.StateConflict, blocksOthers: true, dropsChange: true}
	case BlockedByOwnerRemoval, BlockedByInvalidConfig, BlockedByObstacle:
	}
	return blockTraits{state: v1alpha1.StateBlocked, blocksOthers: true, dropsChange: true}
}

// state returns the state of a workload if its plan has a block of this kind.
func (k BlockKind) state() v1alpha1.WorkloadState { return k.traits().state }

// EndsByItself reports whether the block ends without an action of a user, because other workloads finish their
// rollouts.
func (k BlockKind) EndsByItself() bool { return k.traits().endsByItself }

// IsLongWait reports whether the block lasts until a rollout window opens, a wave starts or a halt ends, even if rollout
// slots are free.
func (k BlockKind) IsLongWait() bool { return k.traits().isLongWait }

// BlocksOthers reports whether a VectorSidecar with a blocked rollout of this kind has not finished its revision, so
// that later waves wait. A paused rollout does not make them wait, because the pause may last.
func (k BlockKind) BlocksOthers() bool { return k.traits().blocksOthers }

// isDropped reports whether the plan has discarded its change because of its block. A later decision plans the change
// again. All other blocked plans make their change when the block ends.
func (p *Plan) isDropped() bool { return p.Block != nil && p.Block.Kind.traits().dropsChange }

// IsDeferred reports whether the workload gets the change only with a later event, such as the next change by its
// application owner.
func (p *Plan) IsDeferred() bool {
	return p.Block != nil && p.Block.Kind.state() == v1alpha1.StateDeferred
}

// IsStopped reports whether the workload never gets the change, because it cannot or must not have the sidecar.
func (p *Plan) IsStopped() bool { return p.isDropped() && !p.IsDeferred() }

// Record returns the body of the apply that records the wait of a blocked plan, or nil if the plan records nothing now.
func (p *Plan) Record() map[string]any {
	if p.Block == nil || p.waitsForRetry() {
		return nil
	}
	return p.Block.Record
}

// withoutRecords returns the plan without a write that only records something in annotations. The removal of an old
// record stays in the plan.
func (p Plan) withoutRecords() Plan {
	switch {
	case p.isRecordOnly() && p.Desired != nil:
		p.Change = None
	case p.Record() != nil:
		block := *p.Block
		block.Record, p.Block = nil, &block
	}
	return p
}

// IsWaiting reports whether the plan waits before it writes its change.
func (p *Plan) IsWaiting() bool {
	return p.Block != nil && p.Block.Kind.state() == v1alpha1.StateWaiting
}

// IsBlockedBy reports whether the plan has a block of a kind.
func (p *Plan) IsBlockedBy(kind BlockKind) bool { return p.Block != nil && p.Block.Kind == kind }

// IsSkipped reports whether the workload does not get the sidecar for a reason that is not an error: for example, it
// opts out, is paused, or is being deleted.
func (p *Plan) IsSkipped() bool {
	return p.Block != nil && p.Block.Kind.state() == v1alpha1.StateSkipped
}

// WithBlock returns the plan with a block, or the unchanged plan if the block is nil. A deferred plan loses its write,
// except the record of its block.
func (p Plan) WithBlock(block *Block) Plan {
	if block == nil {
		return p
	}
	if p.Block = block; p.IsDeferred() {
		p.Write = Write{Force: true}
	}
	return p
}

// These are the results of Plan.Action for plans that have discarded their change.
const (
	ActionDefer    = "Defer"
	ActionConflict = "Conflict"
	ActionBlocked  = "Blocked"
)

// Action returns the name of the plan's action for reports, events, logs and metrics. It is the plan's change, or one
// of the constants above if the plan has discarded its change.
func (p *Plan) Action() string {
	switch {
	case !p.isDropped():
		return string(p.Change)
	case p.IsDeferred():
		return ActionDefer
	case p.IsBlockedBy(BlockedByConflict), p.IsBlockedBy(BlockedByRemoval):
		return ActionConflict
	}
	return ActionBlocked
}

// Reason returns the condition reason that explains the plan to users, or "" for none. The reason of the block has
// precedence over the reason of the rollout.
func (p *Plan) Reason() string {
	switch {
	case p.Block != nil && p.Block.Reason != "":
		return p.Block.Reason
	case p.Rollout.Reason == "" && p.OwnerNotice != "":
		return meta.ReasonOwnedBy
	}
	return p.Rollout.Reason
}

// Message returns the message that explains Reason, or "" for none.
func (p *Plan) Message() string {
	switch {
	case p.Block != nil && p.Block.Reason != "":
		return p.Block.Message
	case p.Rollout.Reason == "" && p.OwnerNotice != "":
		return p.OwnerNotice
	}
	return p.Rollout.Message
}

// Competitor returns the name of the other VectorSidecar in a conflict, or "" for any other block.
func (p *Plan) Competitor() string {
	if p.Block == nil {
		return ""
	}
	return p.Block.Competitor
}

// withCompetitor sets Competitor to the VectorSidecar to which a field manager belongs, and returns the block.
func (b *Block) withCompetitor(manager string) *Block {
	b.Competitor = meta.SidecarName(manager)
	return b
}

// newConflict returns a block for fields that the sidecar needs but that another field manager owns.
func newConflict(format string, args ...any) *Block {
	return &Block{Kind: BlockedByConflict, Reason: meta.ReasonConflict, Message: fmt.Sprintf(format, args...)}
}

// newObstacle returns a block for a workload that cannot have the sidecar.
func newObstacle(format string, args ...any) *Block {
	return &Block{Kind: BlockedByObstacle, Reason: meta.ReasonBlocked, Message: fmt.Sprintf(format, args...)}
}
