// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// elder is an older VectorSidecar that selects some of the workloads, seen as it sees
// them itself.
type elder struct {
	*injection

	name     string
	selector labels.Selector
	// common is its variant for workloads that override nothing.
	common *variant
	// wishes are what it has been asked already, by workload.
	wishes map[types.UID]*plan.Desired
}

// elders are the VectorSidecars that are older than this one, inject, and select one
// of its workloads, the oldest first.
func (d *injection) elders() []*elder {
	var older []*elder
	for i := range d.snapshot.Others {
		other := &d.snapshot.Others[i]
		if !isOlder(other, d.snapshot.Sidecar) {
			continue
		}
		known, asked := d.kin[other.Name]
		if !asked {
			known = d.elder(other)
			d.kin[other.Name] = known
		}
		if known != nil {
			older = append(older, known)
		}
	}
	return older
}

// elder looks at the workloads as another VectorSidecar does, nil if it injects nothing.
func (d *injection) elder(other *v1alpha1.VectorSidecar) *elder {
	if !other.Spec.IsEnabled() || other.DeletionTimestamp != nil {
		return nil
	}
	selector, invalid := selectorOf(other)
	if invalid != nil || !slices.ContainsFunc(d.matched, func(record *workloadcache.Record) bool { return selector.Matches(record.Labels()) }) {
		return nil
	}
	seen := *d.snapshot
	seen.Sidecar, seen.reads = other, nil
	decision := &Decision{}
	decision.Environment, decision.EnvironmentFrom = environmentOf(&seen)
	set, invalid := seen.templateSet(decision.Environment)
	if invalid != nil {
		return nil
	}
	made := &elder{name: other.Name, selector: selector, wishes: map[types.UID]*plan.Desired{}, injection: &injection{
		Decision: decision, snapshot: &seen, memo: d.memo, manager: meta.Manager(other.Name), matched: d.matched, set: set,
		variants: map[string]*variant{}, kin: d.kin,
	}}
	made.common = made.variant("")
	d.references = append(d.references, decision.ConfigMaps()...)
	if made.common.container == "" {
		return nil
	}
	return made
}

// wish returns what the elder is about to inject into a workload that carries nothing
// of it, nil if it is not.
func (e *elder) wish(ctx context.Context, record *workloadcache.Record, view *workload.View) *plan.Desired {
	_, carries := view.Owned[e.manager]
	if carries || !e.selector.Matches(labels.Set(view.Labels)) {
		return nil
	}
	known, asked := e.wishes[record.UID]
	if !asked {
		if judged := e.judge(ctx, record, e.variantOf(record)); judged.plan.Action == plan.Inject {
			known = judged.plan.Desired
		}
		e.wishes[record.UID] = known
	}
	return known
}

// namesake returns the name of the first elder that selects a workload and injects a
// container of a name, or "".
func namesake(elders []*elder, container string, view *workload.View) string {
	for _, elder := range elders {
		if elder.common.container == container && elder.selector.Matches(labels.Set(view.Labels)) {
			return elder.name
		}
	}
	return ""
}

func isOlder(a, b *v1alpha1.VectorSidecar) bool {
	if a.CreationTimestamp.Equal(&b.CreationTimestamp) {
		return a.Name < b.Name
	}
	return a.CreationTimestamp.Before(&b.CreationTimestamp)
}
