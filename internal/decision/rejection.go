// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"time"

	"kontroloop.ai/vector-sidecar-operator/internal/plan"
)

// rejection returns the last rejection of the plan's write by the API server, or nil for none. retryAt is the time of the
// next retry, which is also RetryAt of the rejection. Both are zero if the retry is due.
func (input *Input) rejection(p *plan.Plan) (rejection *plan.Rejection, retryAt time.Time) {
	rejected, ok := input.RejectedWrites[p.Target.UID]
	if !ok || rejected.Seen != p.Workload.EquivalentVersion || rejected.Change != p.Change || rejected.IsDeferred != p.IsDeferred() || rejected.Hash != p.InjectedHash() {
		return nil, time.Time{}
	}
	if !input.Now.Before(rejected.RetryAt) {
		rejected.RetryAt = time.Time{}
	}
	return &rejected.Rejection, rejected.RetryAt
}
