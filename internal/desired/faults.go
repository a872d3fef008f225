// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"fmt"

	"kontroloop.ai/vector-sidecar-operator/internal/environment"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// Fault is an error in one part of the installation's values or templates.
type Fault struct {
	// Reason is a condition reason of package meta.
	Reason string
	// Path is the path of the part in the installation's values.
	Path []string
	Err  error
}

// Faults returns the errors in the template sets, the policy, the rollout rules, and the values of each environment. It
// validates the values of an environment with the schema of the template set that renders the environment.
func (p *Platform) Faults() []Fault {
	var faults []Fault
	add := func(reason string, err error, path ...string) {
		if err != nil {
			faults = append(faults, Fault{reason, path, err})
		}
	}
	for _, set := range p.Sets() {
		add(meta.ReasonInvalidTemplateSet, set.Err, templatesKey, set.Name)
	}
	for _, name := range p.Environments.Names() {
		set, err := p.SetFor("", name)
		if err != nil {
			add(meta.ReasonUnknownTemplateSet, fmt.Errorf("environment %q: %w", name, err), environmentsKey, name, environment.TemplateSetKey)
		} else if set.Environments != nil {
			_, err = set.Environments.Values(name)
			add(meta.ReasonInvalidValues, err, environmentsKey, name)
		}
	}
	add(meta.ReasonInvalidPolicy, p.PolicyErr, PolicyKey)
	add(meta.ReasonInvalidRollout, p.RolloutErr, RolloutKey)
	return faults
}
