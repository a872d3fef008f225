// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"time"

	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
)

// stateWaits returns how long until the results of a reconcile change without an event, because a pause of a correction
// loop ends, the reason for a rejected write may disappear, pods are not watched, or a watch may lag.
func stateWaits(sidecarState *state.Sidecar, decision *decision.Decision, results decision.Results, readsPods bool) []time.Duration {
	_, loopWait := sidecarState.Loops()
	waits := []time.Duration{loopWait, sidecarState.NextPodLook()}
	// An administrator may grant the permission to read pods.
	isBlind := decision.BlindHalt != "" && readsPods
	if isBlind || decision.Late || isUnvalidated(decision.Plans) || len(results.Failures()) > 0 {
		waits = append(waits, state.LastRetry)
	}
	for i := range results {
		waits = append(waits, results[i].RequeueAfter)
	}
	return waits
}
