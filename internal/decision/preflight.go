// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"strings"
	"time"

	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/preflight"
)

// preflight blocks a write that was rejected in dry runs, until the dry runs are due again. The workload stays
// unchanged.
func (d *Decision) preflight(facts *Facts, p *plan.Plan) {
	if len(facts.Trials) == 0 || p.Desired == nil {
		return
	}
	verdict, isKnown := preflight.FindResult(facts.Trials, p)
	switch {
	case !isKnown:
	case verdict.IsRejected() && preflight.Concerns(p):
		block := plan.Block{Kind: plan.BlockedByObstacle, Reason: meta.ReasonPreflightRejected, Message: verdict.Message}
		if verdict.Result == preflight.RejectedAnyway {
			block.Kind, block.Reason = plan.BlockedByExclusion, meta.ReasonApplicationRejected
		}
		p.Stop(block)
		d.again(max(verdict.Expiry.Sub(facts.Now), time.Millisecond))
	case verdict.Result == preflight.Inconclusive:
		p.Warning = strings.TrimPrefix(p.Warning+"; it could not be judged before it was written: "+verdict.Message, "; it ")
	}
}

// refusal explains that the API server rejects pods with a sidecar. It returns "" if no rejection is known.
func (f *Facts) refusal(offer *desired.AdmissionOverlay) string {
	hash := offer.Rendered.Desired.InjectedHash()
	for key, verdict := range f.Trials {
		if key.Hash == hash && verdict.Result == preflight.Rejected {
			return "pods of a workload of the namespace are refused with it (preflight)"
		}
	}
	return ""
}
