// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"fmt"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// templateSet returns the template set that renders the VectorSidecar in an environment. If the set, the policy or the
// rollout rules have no valid version, it returns the reason.
func (in *Inputs) templateSet(environment string) (*TemplateSet, *Invalid) {
	set, err := in.Platform.SetFor(in.Sidecar.Spec.TemplateSet, environment)
	switch {
	case err != nil:
		return nil, &Invalid{meta.ReasonUnknownTemplateSet, fmt.Sprintf("%s: %s", Describe(in.Sidecar), err)}
	case set.Chart == nil:
		return set, &Invalid{meta.ReasonInvalidTemplateSet, set.Err.Error()}
	case in.Platform.Policy == nil:
		return set, &Invalid{meta.ReasonInvalidPolicy, in.Platform.PolicyErr.Error()}
	case in.Platform.Rollout == nil && in.Platform.RolloutErr != nil:
		return set, &Invalid{meta.ReasonInvalidRollout, in.Platform.RolloutErr.Error()}
	}
	return set, nil
}

// findOutdated returns the reason why the last known good version of a template set, of the policy or of the rollout
// rules is used. It returns nil if all current versions are used.
func (in *Inputs) findOutdated(set *TemplateSet) *Invalid {
	const help = " (the last known good version stays in use)"
	switch {
	case set.Err != nil:
		return &Invalid{meta.ReasonInvalidTemplateSet, set.Err.Error() + help}
	case len(in.Platform.Overdue) > 0:
		return &Invalid{meta.ReasonRevisionIncomplete, in.Platform.Overdue[0].String() + " (revision " + in.Platform.Target.Revision + " stays in use)"}
	case in.Platform.PolicyErr != nil:
		return &Invalid{meta.ReasonInvalidPolicy, in.Platform.PolicyErr.Error() + help}
	case in.Platform.RolloutErr != nil:
		return &Invalid{meta.ReasonInvalidRollout, in.Platform.RolloutErr.Error() + help}
	}
	return nil
}
