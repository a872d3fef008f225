// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/clusterwide"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

const (
	kindCluster = "ClusterVectorSidecar"
	// mostNamespaces is the maximum number of namespaces in which a ClusterVectorSidecar is reviewed. The
	// controller reports on all namespaces.
	mostNamespaces = 5
)

// namespaceReview is the review of a ClusterVectorSidecar in one namespace.
type namespaceReview struct {
	review

	// sidecar is the VectorSidecar that the ClusterVectorSidecar defines in the namespace.
	sidecar *v1alpha1.VectorSidecar
}

// reviewCluster reviews a ClusterVectorSidecar in one namespace of each environment. If all of these reviews
// have faults, it reviews more namespaces, because the faults may be specific to a namespace. If the
// ClusterVectorSidecar does not select a namespace, reviewCluster reviews it in an example namespace without
// content.
func (h *Handler) reviewCluster(ctx context.Context, cluster, oldCluster *v1alpha1.ClusterVectorSidecar) (review, error) {
	selected, err := h.World.Namespaces(ctx, cluster)
	if err != nil {
		return review{}, err
	}
	var oldSelected []clusterwide.Namespace
	if oldCluster != nil {
		if oldSelected, err = h.World.Namespaces(ctx, oldCluster); err != nil {
			return review{}, err
		}
	}
	names, environments := clusterwide.Sample(selected, mostNamespaces)
	isExampleNamespace := len(names) == 0
	if isExampleNamespace {
		names, environments = []string{metav1.NamespaceDefault}, 1
	}
	var reviews []namespaceReview
	var public review
	isAccepted := false
	for i, name := range names {
		if i >= environments && isAccepted {
			break
		}
		change := &change{scope: scopeWithoutFault(cluster), sidecar: clusterwide.NewSidecar(cluster, name, true), maxWorkloads: mostWorkloads / len(names), isExampleNamespace: isExampleNamespace}
		if oldCluster != nil {
			change.oldScope, change.oldSidecar = scopeWithoutFault(oldCluster), clusterwide.NewSidecar(oldCluster, name, true)
			change.oldExcludesNamespace = !slices.ContainsFunc(oldSelected, func(n clusterwide.Namespace) bool { return n.Name == name })
		}
		result, publicResult, err := h.reviewChange(ctx, change)
		if err != nil {
			return review{}, err
		}
		isAccepted = isAccepted || !result.isFaulty()
		publicResult.omitNamespace(change.sidecar)
		result.omitNamespace(change.sidecar)
		public.faults = slices.Concat(public.faults, publicResult.faults, publicResult.doubts)
		reviews = append(reviews, namespaceReview{result, change.sidecar})
	}
	if !isFromAPIServer(ctx) {
		for i := range reviews { // Text that is public in one namespace is also public in the others.
			reviews[i].redactPrivate(public, reviews[i].sidecar)
			reviews[i].omitNamespace(reviews[i].sidecar)
		}
	}
	combined := combineReviews(reviews)
	combined.addSelector(cluster, oldCluster)
	return combined, nil
}

// scopeWithoutFault returns the scope of a ClusterVectorSidecar. It has no fault, because addSelector adds it.
func scopeWithoutFault(cluster *v1alpha1.ClusterVectorSidecar) desired.ParentScope {
	scope := clusterwide.NewParentScope(cluster)
	scope.Invalid = ""
	return scope
}

// isFaulty reports whether the review has a fault, including a fault that the old object also has.
func (j *review) isFaulty() bool {
	return len(j.faults) > 0 || slices.ContainsFunc(j.doubts, func(r remark) bool { return r.isOld })
}

// omitNamespace removes the namespace of the VectorSidecar from all remarks. A remark that applies to all
// namespaces then has the same text in each of them.
func (j *review) omitNamespace(sidecar *v1alpha1.VectorSidecar) {
	qualified, unqualified := meta.TitleIn(sidecar.Namespace, sidecar.Name), meta.Title(sidecar.Name)
	for _, remarks := range [][]remark{j.faults, j.doubts} {
		for i := range remarks {
			remarks[i].text = strings.ReplaceAll(remarks[i].text, qualified, unqualified)
		}
	}
}

// combineReviews combines the reviews of all namespaces. If one of them has no fault, the faults in the other
// namespaces become doubts, because they may be specific to these namespaces.
func combineReviews(reviews []namespaceReview) review {
	combined := review{
		faults: mergeRemarks(reviews, func(p *namespaceReview) []remark { return p.faults }),
		doubts: mergeRemarks(reviews, func(p *namespaceReview) []remark { return p.doubts }),
	}
	if slices.ContainsFunc(reviews, func(p namespaceReview) bool { return !p.isFaulty() }) {
		combined.faults, combined.doubts = nil, slices.Concat(combined.faults, combined.doubts)
	}
	return combined
}

// mergeRemarks returns the remarks of all reviews without duplicates. A remark that does not apply to all
// namespaces lists its namespaces.
func mergeRemarks(reviews []namespaceReview, remarksFor func(*namespaceReview) []remark) []remark {
	var remarks []remark
	namespaces := map[remark][]string{}
	for i := range reviews {
		for _, remark := range remarksFor(&reviews[i]) {
			names := namespaces[remark]
			if len(names) == 0 {
				remarks = append(remarks, remark)
			}
			if !slices.Contains(names, reviews[i].sidecar.Namespace) {
				namespaces[remark] = append(names, reviews[i].sidecar.Namespace)
			}
		}
	}
	for i, remark := range remarks {
		switch names := namespaces[remark]; {
		case len(names) == len(reviews):
		case len(names) == 1:
			remarks[i].text = "in namespace " + names[0] + ": " + remark.text
		default:
			remarks[i].text = "in namespaces " + strings.Join(names, ", ") + ": " + remark.text
		}
	}
	return remarks
}

// addSelector adds faults of the namespace selector. A selector that cannot be parsed does not select any
// namespace.
func (j *review) addSelector(cluster, oldCluster *v1alpha1.ClusterVectorSidecar) {
	current, previous := review{faults: selectorFaults(cluster)}, review{}
	if oldCluster != nil {
		previous.faults = selectorFaults(oldCluster)
	}
	current.demoteOldFaults(previous.faults)
	j.faults, j.doubts = slices.Concat(current.faults, j.faults), slices.Concat(current.doubts, j.doubts)
}

// selectorFaults returns the fault of a namespace selector that cannot be parsed, or nil.
func selectorFaults(cluster *v1alpha1.ClusterVectorSidecar) []remark {
	if _, err := clusterwide.NewSelector(&cluster.Spec, ""); err != nil {
		return []remark{{reason: meta.ReasonInvalidSelector, text: meta.Title(meta.ClusterSidecarName(cluster.Name)) + ": " + err.Error()}}
	}
	return nil
}
