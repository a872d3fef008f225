// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workloadcache

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// A workload may run the pods of another workload, with the pod template of the other workload. Such a workload
// is a runner in this package.

// reference is the name of a workload that another workload refers to.
type reference struct {
	kind string
	types.NamespacedName
}

// workloadReference returns the workload that a record refers to, and false if there is none.
func (r *Record) workloadReference() (reference, bool) {
	if r.reference == nil {
		return reference{}, false
	}
	return reference{r.reference.Kind, types.NamespacedName{Namespace: r.Namespace, Name: r.reference.Name}}, true
}

// RunBy returns the record of a workload with pods that a runner runs, or with its own controller if the runner
// is nil. The runner determines the state of the rollout and whether it is paused.
func (r *Record) RunBy(runner *Record) *Record {
	base := cmp.Or(r.base, r)
	if runner == nil {
		return base
	}
	joined := *base
	joined.runner, joined.base = runner, base
	object := *base.object
	object.Paused, joined.object = runner.object.Paused, &object
	joined.state = base.state.RunBy(&runner.state, runner.reference.ObservedGeneration)
	return &joined
}

// Runner returns the workload that runs the pods, or nil if the workload itself runs them.
func (r *Record) Runner() *Record { return r.runner }

// IsSelectedBy reports whether a selector selects the workload, or its runner if the selector lists both kinds.
func (r *Record) IsSelectedBy(s workload.Selector) bool {
	return s.Selects(r.Namespace, r.Kind, r.Labels()) || r.runner != nil && s.ListsKind(r.Kind) && s.Selects(r.runner.Namespace, r.runner.Kind, r.runner.Labels())
}

// IsAnySelectedBy reports whether a VectorSidecar selects one of the workloads. An invalid selector does not select
// workloads. The check of matchLabels avoids parsing the selectors of most other VectorSidecars.
func IsAnySelectedBy(records []*Record, sidecar *v1alpha1.VectorSidecar) bool {
	mayMatch := func(record *Record) bool {
		return hasAll(record.Labels(), sidecar.Spec.Selector.MatchLabels) || record.runner != nil && hasAll(record.runner.Labels(), sidecar.Spec.Selector.MatchLabels)
	}
	if !slices.ContainsFunc(records, mayMatch) {
		return false
	}
	selector, err := workload.NewSelector(sidecar)
	return err == nil && slices.ContainsFunc(records, func(record *Record) bool { return record.IsSelectedBy(selector) })
}

// hasAll reports whether labels contain all pairs of a key and a value.
func hasAll(labelSet labels.Labels, pairs map[string]string) bool {
	for key, value := range pairs {
		if !labelSet.Has(key) || labelSet.Get(key) != value {
			return false
		}
	}
	return true
}

// GetReferred returns the workload with pods that a runner runs, or nil for none.
func (c *Cache) GetReferred(runner *Record) *Record {
	ref, isRunner := runner.workloadReference()
	if !isRunner {
		return nil
	}
	return c.Get(ref.kind, ref.Namespace, ref.Name)
}

// findRunner returns the runner of a workload, or nil for none. If there are several, it returns the first by
// name.
func (c *Cache) findRunner(target reference) *Record {
	var first *Record
	for _, runner := range c.runners[target] {
		if first == nil || runner.Name < first.Name {
			first = runner
		}
	}
	return first
}

// updateReference records the reference of a workload that has changed. The record before or after the change may be
// nil. It returns the workloads that get another runner, as they were before and after.
func (c *Cache) updateReference(previous, current *Record) (changed []*Record) {
	var oldRef, newRef reference
	if previous != nil {
		oldRef, _ = previous.workloadReference()
		if delete(c.runners[oldRef], previous.Name); len(c.runners[oldRef]) == 0 {
			delete(c.runners, oldRef)
		}
	}
	if current != nil {
		var isRunner bool
		if newRef, isRunner = current.workloadReference(); isRunner {
			if c.runners[newRef] == nil {
				c.runners[newRef] = bucket{}
			}
			c.runners[newRef][current.Name] = current
		}
	}
	for _, name := range slices.Compact([]reference{oldRef, newRef}) {
		index := c.indexes[namespaceKey{name.kind, name.Namespace}]
		if index == nil || index.records[name.Name] == nil {
			continue
		}
		old := index.records[name.Name]
		joined := old.RunBy(c.findRunner(name))
		index.add(joined)
		changed = append(changed, old, joined)
	}
	return changed
}
