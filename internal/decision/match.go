// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"cmp"
	"slices"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// Selects reports whether the VectorSidecar of the Input selects a workload by namespace, kind and labels. It returns
// false if the VectorSidecar is invalid or being deleted, or if the record is nil. The VectorSidecar of a ClusterVectorSidecar is
// being deleted in namespaces that are not selected.
func (input *Input) Selects(record *workloadcache.Record) bool {
	selector, invalid := parseSelector(input.Sidecar, input.Scope().Invalid)
	return invalid == nil && record != nil && record.IsSelectedBy(selector)
}

// parseSelector parses spec.selector. An empty selector needs spec.matchAll, because objects that are older than that
// rule of the CRD may lack it. A VectorSidecar that is too large is invalid, and one with an invalid ParentScope.
// A VectorSidecar that is being deleted does not select workloads.
func parseSelector(sidecar *v1alpha1.VectorSidecar, invalidScope string) (selector workload.Selector, invalid *desired.Invalid) {
	if sidecar.DeletionTimestamp != nil {
		return workload.Selector{}, nil
	}
	if invalid := desired.TooLarge(sidecar); invalid != nil {
		return selector, invalid
	}
	if sidecar.Malformed != "" {
		return selector, &desired.Invalid{Reason: meta.ReasonInvalidSpec, Message: desired.Describe(sidecar) + ": " + sidecar.Malformed + ": correct the value; injected sidecars stay unchanged"}
	}
	if invalidScope != "" {
		return selector, &desired.Invalid{Reason: meta.ReasonInvalidSelector, Message: meta.Title(sidecar.Name) + ": " + invalidScope}
	}
	selector, err := workload.NewSelector(sidecar)
	if err != nil {
		return selector, &desired.Invalid{Reason: meta.ReasonInvalidSelector, Message: desired.Describe(sidecar) + ": spec.selector: " + err.Error()}
	}
	if selector.Labels.Empty() && !sidecar.Spec.MatchAll {
		return selector, &desired.Invalid{Reason: meta.ReasonInvalidSelector, Message: desired.Describe(sidecar) + ": spec.selector is empty and would match every workload of the namespace: name a label, or set spec.matchAll: true"}
	}
	_, invalid = canarySelector(sidecar)
	return selector, invalid
}

// match returns the workloads that should have the sidecar, the workloads that should not, and the kinds of the
// selected workloads. Both lists are sorted by name and kind. If the VectorSidecar is being deleted, no workload should
// have the sidecar.
func match(input *Input) (inject, remove []*workloadcache.Record, kinds Kinds, invalid *desired.Invalid) {
	sidecar := input.Sidecar
	selector, invalid := parseSelector(sidecar, input.Scope().Invalid)
	if invalid != nil {
		return nil, nil, kinds, invalid
	}
	kinds = Kinds{Matched: map[string]int{}, Unlisted: map[string]int{}}
	inject = make([]*workloadcache.Record, 0, len(input.Workloads))
	for _, record := range input.Workloads {
		isMatched := record.IsSelectedBy(selector) || keepsUnread(input, record)
		switch {
		case isMatched:
			kinds.Matched[record.Kind]++
		case selector.MatchesLabels(record.Labels()):
			kinds.Unlisted[record.Kind]++
		}
		if isMatched && sidecar.Spec.IsEnabled() {
			inject = append(inject, record)
		} else {
			remove = append(remove, record)
		}
	}
	for _, kind := range sidecar.Spec.Kinds() {
		switch {
		case input.Served != nil && !slices.Contains(input.Served, string(kind)):
			kinds.Unserved = append(kinds.Unserved, string(kind))
		case slices.Contains(input.MissingKinds, string(kind)):
			kinds.MissingKinds = append(kinds.MissingKinds, string(kind))
		}
	}
	slices.SortFunc(inject, compareNames)
	slices.SortFunc(remove, compareNames)
	return inject, remove, kinds, nil
}

// keepsUnread reports whether a workload counts as selected although its labels were not read: it has the sidecar, and a
// VectorSidecar that is not deleted may still select it. Its plan is then blocked.
func keepsUnread(input *Input, record *workloadcache.Record) bool {
	return record.LacksLabels() && input.Sidecar.DeletionTimestamp == nil && slices.Contains(record.Managers(), input.manager())
}

// precedingSidecars returns the preceding VectorSidecars that inject and select one of the matched workloads, sorted by
// precedence. Each item of the result is itself preceded by the items before it.
func precedingSidecars(input *Input, matched []*workloadcache.Record) []*v1alpha1.VectorSidecar {
	sidecars := slices.Clone(input.Others)
	SortByPrecedence(sidecars, input.Scopes)
	var preceding []*v1alpha1.VectorSidecar
	for i := range sidecars {
		candidate := &sidecars[i]
		if !TakesPrecedence(candidate, input.Sidecar, input.Scopes) || !candidate.Spec.IsEnabled() || candidate.DeletionTimestamp != nil {
			continue
		}
		selector, invalid := parseSelector(candidate, input.Scopes[candidate.Name].Invalid)
		if invalid == nil && slices.ContainsFunc(matched, func(record *workloadcache.Record) bool { return record.IsSelectedBy(selector) }) {
			preceding = append(preceding, candidate)
		}
	}
	return preceding
}

// TakesPrecedence reports whether a takes precedence over b. VectorSidecars of the namespace precede
// ClusterVectorSidecars of any age, except for names in takesPrecedenceOver. With this exception the relation may have
// cycles: a ClusterVectorSidecar precedes a VectorSidecar, which precedes another ClusterVectorSidecar that is older.
func TakesPrecedence(a, b *v1alpha1.VectorSidecar, scopes desired.ParentScopes) bool {
	switch isACluster, isBCluster := meta.IsOfCluster(a.Name), meta.IsOfCluster(b.Name); {
	case !isACluster && isBCluster:
		return !slices.Contains(scopes[b.Name].TakesPrecedenceOver, a.Name)
	case isACluster && !isBCluster:
		return slices.Contains(scopes[a.Name].TakesPrecedenceOver, b.Name)
	}
	if a.CreationTimestamp.Equal(&b.CreationTimestamp) {
		return a.Name < b.Name
	}
	return a.CreationTimestamp.Before(&b.CreationTimestamp)
}

// SortByPrecedence sorts the VectorSidecars of one namespace and the ClusterVectorSidecars there by precedence. If the
// relation of TakesPrecedence has a cycle, not every pair can be in order.
func SortByPrecedence(sidecars []v1alpha1.VectorSidecar, scopes desired.ParentScopes) {
	var clusters []v1alpha1.VectorSidecar
	for i := range sidecars {
		if meta.IsOfCluster(sidecars[i].Name) {
			clusters = append(clusters, sidecars[i])
		}
	}
	byAge := func(a, b v1alpha1.VectorSidecar) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), strings.Compare(a.Name, b.Name))
	}
	slices.SortFunc(clusters, byAge)
	// The VectorSidecars of the namespace come first. After each ClusterVectorSidecar come the VectorSidecars that it
	// takes precedence over, except if a later ClusterVectorSidecar takes precedence over them, too.
	rank := func(sidecar *v1alpha1.VectorSidecar) (n int) {
		for i := range clusters {
			if clusters[i].Name == sidecar.Name || slices.Contains(scopes[clusters[i].Name].TakesPrecedenceOver, sidecar.Name) {
				n = i + 1
			}
		}
		return n
	}
	isLast := func(sidecar *v1alpha1.VectorSidecar) int {
		if !meta.IsOfCluster(sidecar.Name) && rank(sidecar) > 0 {
			return 1
		}
		return 0
	}
	slices.SortFunc(sidecars, func(a, b v1alpha1.VectorSidecar) int {
		return cmp.Or(rank(&a)-rank(&b), isLast(&a)-isLast(&b), byAge(a, b))
	})
}
