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

// place is a namespace in which a ClusterVectorSidecar was checked.
type place struct {
	review

	// in is the VectorSidecar of this namespace.
	in *v1alpha1.VectorSidecar
}

// judgeCluster evaluates a ClusterVectorSidecar in one namespace of each environment. If it is not
// accepted in any of them, it is evaluated in more namespaces, because the fault may be in the
// namespace. If it selects no namespace, it is evaluated in an example namespace without content.
func (h *Handler) judgeCluster(ctx context.Context, after, before *v1alpha1.ClusterVectorSidecar) (review, error) {
	selected, err := h.World.Namespaces(ctx, after)
	if err != nil {
		return review{}, err
	}
	var were []clusterwide.Namespace
	if before != nil {
		if were, err = h.World.Namespaces(ctx, before); err != nil {
			return review{}, err
		}
	}
	names, environments := clusterwide.Sample(selected, mostNamespaces)
	isNowhere := len(names) == 0
	if isNowhere {
		names, environments = []string{metav1.NamespaceDefault}, 1
	}
	var places []place
	var public review
	isAccepted := false
	for i, name := range names {
		if i >= environments && isAccepted {
			break
		}
		of := &change{after: clusterwide.NewSidecar(after, name, true), most: mostWorkloads / len(names), isNowhere: isNowhere}
		if before != nil {
			of.before = clusterwide.NewSidecar(before, name, true)
			of.wasElsewhere = !slices.ContainsFunc(were, func(n clusterwide.Namespace) bool { return n.Name == name })
		}
		found, known, err := h.judgeChange(ctx, of)
		if err != nil {
			return review{}, err
		}
		isAccepted = isAccepted || !found.isFaulty()
		known.forget(of.after)
		found.forget(of.after)
		public.faults = slices.Concat(public.faults, known.faults, known.doubts)
		places = append(places, place{found, of.after})
	}
	if !isProven(ctx) {
		for i := range places { // Text that is public in one namespace is also public in the others.
			places[i].keep(public, places[i].in)
			places[i].forget(places[i].in)
		}
	}
	whole := together(places)
	whole.addSelector(after, before)
	return whole, nil
}

// isFaulty reports whether there is a new or an old fault.
func (j *review) isFaulty() bool {
	return len(j.faults) > 0 || slices.ContainsFunc(j.doubts, func(r remark) bool { return r.isOld })
}

// forget removes the namespace from the name of the VectorSidecar, so that remarks that apply to
// all namespaces have the same text in each.
func (j *review) forget(sidecar *v1alpha1.VectorSidecar) {
	there, anywhere := meta.TitleIn(sidecar.Namespace, sidecar.Name), meta.Title(sidecar.Name)
	for _, remarks := range [][]remark{j.faults, j.doubts} {
		for i := range remarks {
			remarks[i].text = strings.ReplaceAll(remarks[i].text, there, anywhere)
		}
	}
}

// together returns one review for all namespaces. If the ClusterVectorSidecar is accepted in one of
// them, the faults of the others become doubts, because they may be faults of the namespaces.
func together(places []place) review {
	whole := review{
		faults: gather(places, func(p *place) []remark { return p.faults }),
		doubts: gather(places, func(p *place) []remark { return p.doubts }),
	}
	if slices.ContainsFunc(places, func(p place) bool { return !p.isFaulty() }) {
		whole.faults, whole.doubts = nil, slices.Concat(whole.faults, whole.doubts)
	}
	return whole
}

// gather returns the remarks of all places. A remark that does not apply to all places names its
// namespaces.
func gather(places []place, of func(*place) []remark) []remark {
	var all []remark
	in := map[remark][]string{}
	for i := range places {
		for _, one := range of(&places[i]) {
			there := in[one]
			if len(there) == 0 {
				all = append(all, one)
			}
			if !slices.Contains(there, places[i].in.Namespace) {
				in[one] = append(there, places[i].in.Namespace)
			}
		}
	}
	for i, one := range all {
		switch there := in[one]; {
		case len(there) == len(places):
		case len(there) == 1:
			all[i].text = "in namespace " + there[0] + ": " + one.text
		default:
			all[i].text = "in namespaces " + strings.Join(there, ", ") + ": " + one.text
		}
	}
	return all
}

// addSelector adds the faults of the selector of namespaces. A selector that cannot be parsed
// selects no namespaces.
func (j *review) addSelector(after, before *v1alpha1.ClusterVectorSidecar) {
	found, was := review{faults: selectorFaults(after)}, review{}
	if before != nil {
		was.faults = selectorFaults(before)
	}
	found.forgive(was.faults)
	j.faults, j.doubts = slices.Concat(found.faults, j.faults), slices.Concat(found.doubts, j.doubts)
}

func selectorFaults(cluster *v1alpha1.ClusterVectorSidecar) []remark {
	if _, err := clusterwide.NewSelector(&cluster.Spec, ""); err != nil {
		return []remark{{reason: meta.ReasonInvalidSelector, text: meta.Title(meta.InNamespace(cluster.Name)) + ": " + err.Error()}}
	}
	return nil
}
