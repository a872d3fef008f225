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
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

const (
	kindCluster = "ClusterVectorSidecar"
	// mostNamespaces is the maximum number of namespaces in which a ClusterVectorSidecar is
	// checked. The controller reports on all namespaces.
	mostNamespaces = 5
)

// namespaceReview is a namespace in which a ClusterVectorSidecar was checked.
type namespaceReview struct {
	review

	// sidecar is the VectorSidecar of this namespace.
	sidecar *v1alpha1.VectorSidecar
}

// reviewCluster evaluates a ClusterVectorSidecar in one namespace of each environment. If it is not
// accepted in any of them, it is evaluated in more namespaces, because the fault may be in the
// namespace. If it selects no namespace, it is evaluated in an example namespace without content.
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
		change := &change{sidecar: clusterwide.NewSidecar(cluster, name, true), maxWorkloads: mostWorkloads / len(names), isExampleNamespace: isExampleNamespace}
		if oldCluster != nil {
			change.oldSidecar = clusterwide.NewSidecar(oldCluster, name, true)
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
	if !isProven(ctx) {
		for i := range reviews { // Text that is public in one namespace is also public in the others.
			reviews[i].redactPrivate(public, reviews[i].sidecar)
			reviews[i].omitNamespace(reviews[i].sidecar)
		}
	}
	combined := combineReviews(reviews)
	combined.addSelector(cluster, oldCluster)
	return combined, nil
}

// isFaulty reports whether there is a new or an old fault.
func (j *review) isFaulty() bool {
	return len(j.faults) > 0 || slices.ContainsFunc(j.doubts, func(r remark) bool { return r.isOld })
}

// omitNamespace removes the namespace from the name of the VectorSidecar, so that remarks that apply to
// all namespaces have the same text in each.
func (j *review) omitNamespace(sidecar *v1alpha1.VectorSidecar) {
	qualified, unqualified := meta.TitleIn(sidecar.Namespace, sidecar.Name), meta.Title(sidecar.Name)
	for _, remarks := range [][]remark{j.faults, j.doubts} {
		for i := range remarks {
			remarks[i].text = strings.ReplaceAll(remarks[i].text, qualified, unqualified)
		}
	}
}

// combineReviews returns one review for all namespaces. If the ClusterVectorSidecar is accepted in one of
// them, the faults of the others become doubts, because they may be faults of the namespaces.
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

// mergeRemarks returns the remarks of all places. A remark that does not apply to all places names its
// namespaces.
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

// addSelector adds the faults of the selector of namespaces. A selector that cannot be parsed
// selects no namespaces.
func (j *review) addSelector(cluster, oldCluster *v1alpha1.ClusterVectorSidecar) {
	current, previous := review{faults: selectorFaults(cluster)}, review{}
	if oldCluster != nil {
		previous.faults = selectorFaults(oldCluster)
	}
	current.demoteOldFaults(previous.faults)
	j.faults, j.doubts = slices.Concat(current.faults, j.faults), slices.Concat(current.doubts, j.doubts)
}

func selectorFaults(cluster *v1alpha1.ClusterVectorSidecar) []remark {
	if _, err := clusterwide.NewSelector(&cluster.Spec, ""); err != nil {
		return []remark{{reason: meta.ReasonInvalidSelector, text: meta.Title(meta.InNamespace(cluster.Name)) + ": " + err.Error()}}
	}
	return nil
}
