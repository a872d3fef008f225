// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
)

// defaultConcurrent is the default of spec.rollout.maxConcurrent.
const defaultConcurrent = 5

// rolloutLimit reads spec.rollout. The deletion of a VectorSidecar overrides a pause, because otherwise its finalizer could
// wait forever.
func rolloutLimit(input *Input, matched int) plan.Limit {
	limit := plan.Limit{Max: defaultConcurrent, Soak: input.soak(), WriteHold: input.writeHold(), MaxAgeHold: input.MaxAgeHold}
	if start, end, isClosed := input.Platform.Rollout.ClosedWindow(input.Now); isClosed {
		limit.ClosedWindow = &plan.ClosedWindow{ClosedAt: start, OpensAt: end}
	}
	rollout := input.Sidecar.Spec.Rollout
	if rollout == nil {
		return limit
	}
	limit.Paused = rollout.Paused && input.Sidecar.DeletionTimestamp == nil
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

// requestedRetry returns a user's last request to retry rollouts, with the time when the operator first read it. It
// returns nil without a request.
func requestedRetry(input *Input) *v1alpha1.RetryStatus {
	requested, previous := fleet.RetryDigest(input.Sidecar.Annotations), input.Sidecar.Status.Retry
	switch {
	case requested == "":
		return nil
	case previous != nil && previous.Requested == requested:
		return previous.DeepCopy()
	}
	return &v1alpha1.RetryStatus{Requested: requested, RetryTime: metav1.NewTime(input.Now.Truncate(time.Second))}
}
