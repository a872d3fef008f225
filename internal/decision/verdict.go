// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"fmt"

	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// validate blocks a write until Vector has accepted its configuration.
func (d *Decision) validate(facts *Facts, p *plan.Plan, validation *desired.Validation, record *workloadcache.Record) {
	if validation == nil || p.Desired == nil || p.Change == plan.Remove || !p.Writes() && !p.IsCurrent() {
		return
	}
	verdict := Verdict{State: VerdictUnable, Message: "sidecar.config.validateJob is on, and the operator was installed without configValidation.job.enabled"}
	if facts.Verdicts != nil {
		verdict = facts.Verdicts[validation.Key]
	}
	switch {
	case p.IsCurrent() && verdict.State != VerdictUnable: // The configuration runs already.
	case verdict.State == VerdictPending:
		d.ask(validation)
		p.Wait(plan.BlockedByValidation, meta.ReasonValidating, fmt.Sprintf("Job %s has Vector judge the configuration, but not %s", validation.Job.Name, validation.Mode.Unchecked))
	case verdict.State == VerdictInvalid:
		d.Invalid = &desired.Invalid{Reason: meta.ReasonInvalidConfig, Message: "vector validate: " + verdict.Message}
		view := record.View()
		*p = plan.ForBlocked(p.Manager, &view, plan.Block{Kind: plan.BlockedByObstacle, Reason: d.Invalid.Reason, Message: d.Invalid.Message})
	case verdict.State == VerdictUnable && validation.WaitsWhenUnable && !p.IsCurrent():
		p.Wait(plan.BlockedByValidator, meta.ReasonNotValidated, "Vector could not be asked: "+verdict.Message)
	case verdict.State == VerdictUnable:
		p.Warning = "has a configuration that Vector could not be asked about: " + verdict.Message
	}
}

// ask adds a validation unless the decision already has it.
func (d *Decision) ask(validation *desired.Validation) {
	for i := range d.Validations {
		if d.Validations[i].Key == validation.Key {
			return
		}
	}
	d.Validations = append(d.Validations, *validation)
}
