// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"time"

	"kontroloop.ai/vector-sidecar-operator/internal/plan"
)

// rejection returns the last rejection of the plan's write, or nil for none, and the time of the next retry. If that
// retry is due, RetryAt and retryAt are zero.
func (input *Input) rejection(p *plan.Plan) (denial *plan.Denial, retryAt time.Time) {
	rejected, ok := input.Denials[p.Target.UID]
	if !ok || rejected.Seen != p.Workload.EquivalentVersion || rejected.Change != p.Change || rejected.IsDeferred != p.IsDeferred() || rejected.Hash != p.InjectedHash() {
		return nil, time.Time{}
	}
	if !input.Now.Before(rejected.RetryAt) {
		rejected.RetryAt = time.Time{}
	}
	return &rejected.Denial, rejected.RetryAt
}
