// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// Evaluated is the evaluation of one workload. It depends only on the workload and its desired sidecar, not on other
// workloads. It must not be changed.
type Evaluated struct {
	// Record is the workload. Basis is a digest of all other inputs of the evaluation.
	Record *workloadcache.Record
	Basis  string
	Plan   plan.Plan
	// Rendered is the rendering that the plan was made from, or nil for none.
	Rendered *desired.Rendered
	// Companions and Copied are the companions of Rendered that the workload needs.
	Companions []corev1.ConfigMap
	Copied     *desired.ConfigMapCopy
	// KeptConfigMaps are the ConfigMaps of a sidecar that stays in the workload.
	KeptConfigMaps []string
}

// isLate reports whether templates ran out of time, so that the next result may differ.
func (e *Evaluated) isLate() bool { return e.Rendered != nil && e.Rendered.TimedOut }

// Previous has the evaluations of the last decision on a VectorSidecar, so that the next one evaluates only changed
// workloads. Both lists are sorted by the names and kinds of the workloads.
type Previous struct{ Injected, Removed []*Evaluated }

// findEvaluated returns the last evaluation of a workload from a list of Previous. It returns nil if there is none, or if
// more than the workload's rollout state has changed.
func findEvaluated(evaluations []*Evaluated, record *workloadcache.Record) *Evaluated {
	i, isFound := slices.BinarySearchFunc(evaluations, record, func(evaluated *Evaluated, record *workloadcache.Record) int {
		return compareNames(evaluated.Record, record)
	})
	if !isFound || !evaluations[i].Record.HasSameView(record) {
		return nil
	}
	return evaluations[i]
}

// compareNames compares two workloads of a namespace by name and kind.
func compareNames(a, b *workloadcache.Record) int {
	return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Kind, b.Kind))
}

// Bytes returns the approximate memory use. It includes memory that is shared with cached renderings, because the cache
// may evict them first.
func (p *Previous) Bytes() int {
	total := 0
	counted := map[*desired.Rendered]bool{}
	for _, evaluated := range slices.Concat(p.Injected, p.Removed) {
		total += perEvaluated + len(evaluated.Plan.Message()) + len(evaluated.Plan.Warning) + len(evaluated.Basis)
		if evaluated.Rendered != nil && !counted[evaluated.Rendered] {
			counted[evaluated.Rendered] = true
			total += evaluated.Rendered.Bytes()
		}
	}
	return total
}

// perEvaluated is the size of an Evaluated with its plan, without strings.
var perEvaluated = int(reflect.TypeFor[Evaluated]().Size())
