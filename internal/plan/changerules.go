// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// changeRules decide whether a workload that a VectorSidecar selects loses its sidecar. A rule returns the cause of
// the removal, or "" if it does not apply. The first cause applies. If no rule applies, the comparison of the
// workload with the desired sidecar determines the change.
var changeRules = []func(c *candidate) string{
	supersededCause,
	optOutCause,
	skippedOwnerCause,
}

// removalCause returns the cause for which the workload loses its sidecar, or "" if it keeps or gets the sidecar.
func removalCause(c *candidate) string {
	for _, rule := range changeRules {
		if cause := rule(c); cause != "" {
			return cause
		}
	}
	return ""
}

// supersededCause removes the sidecar of a VectorSidecar that is superseded in the workload.
func supersededCause(c *candidate) string {
	if _, carries := c.view.Owned[c.manager]; !carries {
		return ""
	}
	return c.policy.Superseded
}

// optOutCause removes the sidecar from a workload that opts out.
func optOutCause(c *candidate) string {
	if c.view.OptOut == "" || !c.losesSidecar() {
		return ""
	}
	return fmt.Sprintf("the workload's annotation %s is %s", meta.AnnotationInject, quoteText(c.view.OptOut))
}

// skippedOwnerCause removes the sidecar from a workload with a controller owner, for a VectorSidecar that skips such
// workloads.
func skippedOwnerCause(c *candidate) string {
	if !c.policy.SkipsOwned || c.view.Owner == nil || !c.losesSidecar() {
		return ""
	}
	return skippedOwnerText(c)
}

// losesSidecar reports whether the workload has anything to remove. A workload that is being deleted keeps its sidecar.
func (c *candidate) losesSidecar() bool {
	return !c.view.Deleting && (c.existing.IsOwned || c.existing.Waits)
}

func skippedOwnerText(c *candidate) string {
	return c.view.Owner.String() + " owns the workload, and spec.ownedWorkloads is Skip"
}
