// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"k8s.io/apimachinery/pkg/util/intstr"

	"kontroloop.ai/vector-sidecar-operator/internal/plan"
)

// defaultConcurrent is the default of spec.rollout.maxConcurrent.
const defaultConcurrent = 5

// limitOf reads spec.rollout. Deleting a VectorSidecar overrides a pause: its finalizer
// must not wait for ever.
func limitOf(facts *Facts, matched int) plan.Limit {
	limit := plan.Limit{Max: defaultConcurrent, Soak: facts.soak()}
	rollout := facts.Sidecar.Spec.Rollout
	if rollout == nil {
		return limit
	}
	limit.Paused = rollout.Paused && facts.Sidecar.DeletionTimestamp == nil
	if rollout.MaxConcurrent == nil {
		return limit
	}
	if rollout.MaxConcurrent.Type == intstr.String && rollout.MaxConcurrent.StrVal == "100%" {
		limit.Max = 0
		return limit
	}
	// The CRD allows only numbers and percentages.
	if scaled, err := intstr.GetScaledValueFromIntOrPercent(rollout.MaxConcurrent, matched, true); err == nil {
		limit.Max = max(1, scaled)
	}
	return limit
}
