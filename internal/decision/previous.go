// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// Evaluated is what is to be done to one workload, as far as that follows from the
// workload and what it should carry alone, whatever goes on elsewhere. It must not be
// changed.
type Evaluated struct {
	// Of is the workload, and Basis what it was evaluated by beside that.
	Of    *workloadcache.Record
	Basis string
	Plan  plan.Plan
	// Rendered is what the plan was made of; nil if there was nothing to inject.
	Rendered *desired.Rendered
	// Companions and Copied are those of Rendered that the workload needs.
	Companions []corev1.ConfigMap
	Copied     *desired.Copied
	// Kept are the ConfigMaps of a sidecar that it keeps.
	Kept []string
}

// isLate reports whether it would be another one if templates had not run out of time.
func (e *Evaluated) isLate() bool { return e.Rendered != nil && e.Rendered.Late }

// Previous is what one decision leaves to the next one on the same VectorSidecar, which
// evaluates only what has changed. Both are in the order of the workloads' names.
type Previous struct{ Injected, Removed []*Evaluated }

// Bytes are about what it takes to remember it. What it has in common with renderings
// that are remembered anyway counts, too: these may be gone before.
func (p *Previous) Bytes() int {
	total := 0
	seen := map[*desired.Rendered]bool{}
	for _, one := range slices.Concat(p.Injected, p.Removed) {
		total += perEvaluated + len(one.Plan.Message) + len(one.Plan.Warning) + len(one.Basis)
		if one.Rendered != nil && !seen[one.Rendered] {
			seen[one.Rendered] = true
			total += one.Rendered.Bytes()
		}
	}
	return total
}

// perEvaluated is about what one takes with its plan, but for texts.
const perEvaluated = 512
