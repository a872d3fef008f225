// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// selectorOf parses the selector. An empty one needs matchAll: objects from before that
// rule in the CRD may lack it. A VectorSidecar that is too large has none.
func selectorOf(sidecar *v1alpha1.VectorSidecar) (labels.Selector, *desired.Invalid) {
	if invalid := desired.TooLarge(sidecar); invalid != nil {
		return nil, invalid
	}
	selector, err := metav1.LabelSelectorAsSelector(&sidecar.Spec.Selector)
	if err != nil {
		return nil, &desired.Invalid{Reason: meta.ReasonInvalidSelector, Message: desired.Describe(sidecar) + ": spec.selector: " + err.Error()}
	}
	if selector.Empty() && !sidecar.Spec.MatchAll {
		return nil, &desired.Invalid{Reason: meta.ReasonInvalidSelector, Message: desired.Describe(sidecar) + ": spec.selector is empty and would match every " + workload.Singular() + " of the namespace: name a label, or set spec.matchAll: true"}
	}
	return selector, nil
}

// Match returns which workloads should have the sidecar and which should not, both
// sorted by name, and how many the selector matches. If the VectorSidecar is being
// deleted, all are in remove.
func Match(sidecar *v1alpha1.VectorSidecar, records []*workloadcache.Record) (inject, remove []*workloadcache.Record, matched int, invalid *desired.Invalid) {
	selector, invalid := selectorOf(sidecar)
	if sidecar.DeletionTimestamp != nil {
		selector, invalid = labels.Nothing(), nil
	}
	if invalid != nil {
		return nil, nil, 0, invalid
	}
	inject = make([]*workloadcache.Record, 0, len(records))
	for _, record := range records {
		isMatched := selector.Matches(record.Labels())
		if isMatched {
			matched++
		}
		if isMatched && sidecar.Spec.IsEnabled() {
			inject = append(inject, record)
		} else {
			remove = append(remove, record)
		}
	}
	byName := func(a, b *workloadcache.Record) int { return strings.Compare(a.Name, b.Name) }
	slices.SortFunc(inject, byName)
	slices.SortFunc(remove, byName)
	return inject, remove, matched, nil
}

// Elder is an older VectorSidecar that injects into some of the same workloads.
type Elder struct {
	Sidecar  *v1alpha1.VectorSidecar
	Selector labels.Selector
}

// Elders returns the VectorSidecars that are older, inject, and select one of the
// matched workloads, oldest first. The elders of each are those before it.
func Elders(sidecar *v1alpha1.VectorSidecar, others []v1alpha1.VectorSidecar, matched []*workloadcache.Record) []Elder {
	var older []Elder
	for i := range others {
		other := &others[i]
		if !isOlder(other, sidecar) || !other.Spec.IsEnabled() || other.DeletionTimestamp != nil {
			continue
		}
		selector, invalid := selectorOf(other)
		if invalid == nil && slices.ContainsFunc(matched, func(record *workloadcache.Record) bool { return selector.Matches(record.Labels()) }) {
			older = append(older, Elder{other, selector})
		}
	}
	slices.SortFunc(older, func(a, b Elder) int {
		if isOlder(a.Sidecar, b.Sidecar) {
			return -1
		}
		return 1
	})
	return older
}

func isOlder(a, b *v1alpha1.VectorSidecar) bool {
	if a.CreationTimestamp.Equal(&b.CreationTimestamp) {
		return a.Name < b.Name
	}
	return a.CreationTimestamp.Before(&b.CreationTimestamp)
}
