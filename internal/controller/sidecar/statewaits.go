// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"time"

	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
)

// stateWaits returns the times until the results of a reconcile may change without an event: the pause of a correction
// loop ends, the reason of a rejected write may have disappeared, pods must be read again, or a watch may lag.
func stateWaits(sidecarState *state.Sidecar, decision *decision.Decision, results decision.Results, readsPods bool) []time.Duration {
	_, loopWait := sidecarState.CorrectionLoops()
	waits := []time.Duration{loopWait, sidecarState.NextPodLook()}
	// An administrator may grant the permission to read pods.
	isBlind := decision.BlindHalt != "" && readsPods
	if isBlind || decision.TimedOut || isUnvalidated(decision.Plans) || len(results.Failures()) > 0 {
		waits = append(waits, state.LastRetry)
	}
	for i := range results {
		waits = append(waits, results[i].RequeueAfter)
	}
	return waits
}
