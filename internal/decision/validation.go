// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"slices"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/preflight"
)

// verdict returns the result of Vector's own validation. A configuration that needs no validation counts as valid.
func (input *Input) verdict(rendered *desired.Rendered) Verdict {
	switch validation := rendered.Validation; {
	case validation == nil:
		return Verdict{State: VerdictValid}
	case input.Verdict == nil:
		return Verdict{State: VerdictUnable, Message: "sidecar.config.validateJob is on, and the operator was installed without configValidation.job.enabled"}
	default:
		return input.Verdict(validation.Key)
	}
}

// warning returns the warning of a plan, with the checks of the sidecar that Vector or the API server could not make.
func (input *Input) warning(p *plan.Plan, rendered *desired.Rendered) string {
	warning := p.Warning
	if p.Desired == nil || p.IsDeferred() {
		return warning
	}
	if verdict := input.verdict(rendered); p.Block == nil && verdict.State == VerdictUnable && (p.IsCurrent() || !rendered.Validation.WaitsWhenUnable) {
		warning = "Vector could not check the configuration: " + verdict.Message
	}
	if result, ok := preflight.FindResult(input.DryRuns, p); ok && result.Result == preflight.Inconclusive {
		warning = strings.TrimPrefix(warning+"; the dry run before the write was inconclusive: "+result.Message, "; ")
	}
	return warning
}

// addValidation adds a validation unless the decision already has it.
func (d *Decision) addValidation(validation *desired.Validation) {
	if !slices.ContainsFunc(d.Validations, func(existing desired.Validation) bool { return existing.Key == validation.Key }) {
		d.Validations = append(d.Validations, *validation)
	}
}
