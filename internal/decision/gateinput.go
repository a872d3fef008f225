// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// gateInput is the evaluated plan of one workload with everything about the workload that its gates depend on. The gates
// do not change it.
type gateInput struct {
	plan     *plan.Plan
	view     *workload.View
	rendered *desired.Rendered

	// The policyGates do not have the following fields.
	// removal is the removal by a controller owner that blocks the injection into the workload, or nil for none.
	removal *v1alpha1.OwnerRemoval
	mode    *mode
	// wait is the wait for spec.rollout.mode, or nil if the workload does not wait. isWaitRecorded reports whether the
	// workload has the record of this wait.
	wait           *workload.Wait
	isWaitRecorded bool
	// ports are the node ports of the sidecar. claims are the inputs of earlier plans with sidecars that will listen on
	// node ports.
	ports  []workload.NodePort
	claims []*gateInput
}
