// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// changeRules decide whether a selected workload loses its sidecar. A rule returns the cause of the removal, or "" if
// it does not apply. The first rule with a cause decides. If no rule has a cause, the comparison of the workload with
// the desired sidecar determines the change.
var changeRules = []func(c *candidate) string{
	supersededCause,
	optOutCause,
	skippedOwnerCause,
}

// removalCause returns the cause for removing the workload's sidecar, or "" if the workload keeps or gets the sidecar.
func removalCause(c *candidate) string {
	for _, rule := range changeRules {
		if cause := rule(c); cause != "" {
			return cause
		}
	}
	return ""
}

// supersededCause returns the cause if another VectorSidecar has superseded this one in a workload that has its
// sidecar.
func supersededCause(c *candidate) string {
	if _, carries := c.view.Owned[c.manager]; !carries {
		return ""
	}
	return c.policy.Superseded
}

// optOutCause returns the cause if a workload with the sidecar has opted out by its annotation.
func optOutCause(c *candidate) string {
	if c.view.OptOut == "" || !c.losesSidecar() {
		return ""
	}
	return fmt.Sprintf("the workload's annotation %s is %s", meta.AnnotationInject, quoteText(c.view.OptOut))
}

// skippedOwnerCause returns the cause if a workload with the sidecar has a controller owner, and the VectorSidecar
// skips such workloads (spec.ownedWorkloads).
func skippedOwnerCause(c *candidate) string {
	if !c.policy.SkipsOwned || c.view.Owner == nil || !c.losesSidecar() {
		return ""
	}
	return skippedOwnerText(c)
}

// losesSidecar reports whether the workload has a sidecar, or a record that it waits for one, which can be removed. A
// workload that is being deleted keeps them.
func (c *candidate) losesSidecar() bool {
	return !c.view.Deleting && (c.existing.IsOwned || c.existing.Waits)
}

// skippedOwnerText explains that the VectorSidecar skips the workload because of its controller owner.
func skippedOwnerText(c *candidate) string {
	return c.view.Owner.String() + " owns the workload, and spec.ownedWorkloads is Skip"
}
