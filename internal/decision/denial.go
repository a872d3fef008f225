// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import "kontroloop.ai/vector-sidecar-operator/internal/plan"

// recall records that the API server rejected the same write before. If a retry is not due yet, it schedules another
// decision.
func (d *Decision) recall(f *Facts, p *plan.Plan) {
	denial, isKnown := f.Denials[p.Target.UID]
	if !isKnown || denial.Seen != p.Workload.EquivalentVersion || denial.Change != p.Change || denial.IsDeferred != p.IsDeferred() || denial.Hash != p.InjectedHash() {
		return
	}
	if p.Deny(&denial.Denial, f.Now); f.Now.Before(denial.RetryAt) {
		d.again(denial.RetryAt.Sub(f.Now))
	}
}
