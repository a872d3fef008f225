// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"fmt"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
)

// writeHold returns the block that puts all writes except removals on hold, or nil if they are allowed. A stop by a user
// takes precedence.
func (input *Input) writeHold() *plan.Block {
	switch {
	case input.Platform.Stop == desired.StoppedByValues:
		return plan.StopBlock("the value writes of the installation is Stopped, which stops all writes except removals")
	case input.Platform.Stop.IsActive():
		return plan.StopBlock("the annotation " + meta.AnnotationStopWrites + " of the installation's ConfigMap stops all writes except removals")
	case input.Platform.Unpublished != "":
		return &plan.Block{Kind: plan.BlockedByRevision, Reason: meta.ReasonRevisionIncomplete, Message: input.Platform.Unpublished}
	case input.WriteHold != nil:
		return input.WriteHold
	}
	return revisionHold(input.Platform, input.Sidecar)
}

// revisionHold returns the write hold of a VectorSidecar with another revision than the platform, or nil for none. Either the
// VectorSidecar does not have a revision yet, or its revision cannot be rendered any more.
func revisionHold(platform *desired.Platform, sidecar *v1alpha1.VectorSidecar) *plan.Block {
	rolloutStatus := sidecar.Status.Rollout
	if rolloutStatus == nil || !platform.Target.Rules.IsStaged() || rolloutStatus.Revision == platform.Revision {
		return nil
	}
	message := fmt.Sprintf("waiting until the VectorSidecar may start revision %s of the installation's templates and values", platform.Target.Revision)
	if rolloutStatus.Revision != "" {
		message += "; the current revision is " + rolloutStatus.Revision
	}
	if platform.Missing != nil {
		message += fmt.Sprintf(", which cannot be rendered (%s)", platform.Missing)
	}
	return &plan.Block{Kind: plan.BlockedByWave, Reason: meta.ReasonWaitingForWave, Message: message}
}

// ReportedWriteHold returns the block that puts writes on hold according to the status of a VectorSidecar, or nil if they
// are allowed. It is for previews, which do not follow the waves.
func ReportedWriteHold(platform *desired.Platform, sidecar *v1alpha1.VectorSidecar) *plan.Block {
	rolloutStatus, target := sidecar.Status.Rollout, &platform.Target
	if rolloutStatus == nil || !target.Rules.IsStaged() || !fleet.IsHeld(rolloutStatus, target, rolloutStatus.State == v1alpha1.RolloutHalted) {
		return nil
	}
	if rolloutStatus.State == v1alpha1.RolloutHalted {
		return &plan.Block{Kind: plan.BlockedByHalt, Reason: meta.ReasonRolloutHalted, Message: rolloutStatus.Message}
	}
	return &plan.Block{Kind: plan.BlockedByWave, Reason: meta.ReasonWaitingForWave, Message: rolloutStatus.Message}
}
