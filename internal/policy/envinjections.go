// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"slices"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// CheckEnvInjections checks the names of the variables that are injected into application containers.
func (p *Policy) CheckEnvInjections(injections []workload.EnvInjection) error {
	return p.CheckEach(func(rules *Policy) error {
		var refused []string
		for i := range injections {
			if name := injections[i].Name; !slices.Contains(rules.ApplicationEnv, name) {
				refused = append(refused, name)
			}
		}
		if len(refused) == 0 {
			return nil
		}
		return fmt.Errorf("variables not allowed: %s (sidecar.applicationEnv); the platform allows %s (policy.applicationEnv)", strings.Join(refused, ", "), describeAllowed(rules.ApplicationEnv))
	})
}
