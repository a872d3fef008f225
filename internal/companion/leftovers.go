// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package companion

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Verdict is what becomes of what was left in a workload.
type Verdict string

const (
	// Clean is taken out by the operator: this installation wrote it, and nobody
	// wanted it to stay. A write that arrived after its VectorSidecar was gone leaves
	// such a sidecar.
	Clean Verdict = "Clean"
	// Report is for a person to judge.
	Report Verdict = "Report"
	// Keep is meant to stay.
	Keep Verdict = "Keep"
)

// Verdicts are all there are.
func Verdicts() []Verdict { return []Verdict{Clean, Report, Keep} }

// Carrier is a workload that may carry something of the operator's.
type Carrier struct {
	workload.Ref
	// Deleting workloads take what they carry with them.
	Deleting bool
	Traces   []workload.Trace
}

// CarrierOf returns a workload as a Carrier.
func CarrierOf(object workload.Object) Carrier {
	return Carrier{Ref: workload.RefOf(object), Deleting: object.GetDeletionTimestamp() != nil, Traces: workload.TracesOf(object)}
}

// Leftover is what one field manager left in one workload.
type Leftover struct {
	workload.Ref
	// Manager is the field manager, and Sidecar the name of the VectorSidecar that
	// there is not, shortened if it is long.
	Manager, Sidecar string
	Verdict          Verdict
	// Reason says why that is the verdict.
	Reason string
}

// FindLeftovers returns what was left in workloads, by namespace, name and manager. exists
// reports whether a namespace has a VectorSidecar of a field manager, if only one that
// is being deleted. writtenBy is the installation that would take it out, "" for none.
func FindLeftovers(carriers iter.Seq[Carrier], exists func(namespace, manager string) bool, writtenBy string) []Leftover {
	var found []Leftover
	for carrier := range carriers {
		if carrier.Deleting {
			continue
		}
		for _, trace := range carrier.Traces {
			if exists(carrier.Namespace, trace.Manager) {
				continue
			}
			verdict, reason := judge(&trace, writtenBy)
			found = append(found, Leftover{
				Ref: carrier.Ref, Manager: trace.Manager, Sidecar: meta.SidecarOf(trace.Manager), Verdict: verdict, Reason: reason,
			})
		}
	}
	slices.SortFunc(found, func(a, b Leftover) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Manager, b.Manager))
	})
	return found
}

// judge judges a trace of a VectorSidecar that does not exist. What is cleaned has a
// mark that says so; to lack one is no proof of anything.
func judge(trace *workload.Trace, writtenBy string) (Verdict, string) {
	switch {
	case trace.Orphan != "":
		return Keep, "it was deleted with deletionPolicy Orphan"
	case !trace.Applied && trace.Listed:
		return Report, "somebody brought the pod template back, and nobody is on record for having applied it"
	case !trace.Applied && !trace.Patched:
		return Report, "only annotations are left, which another field manager has copied"
	case !trace.Applied:
		return Report, "only the record of a patch is left"
	case trace.WrittenBy == "":
		return Report, "it has no annotation written-by, so that it may be meant to stay"
	case trace.WrittenBy != writtenBy:
		return Report, fmt.Sprintf("it was written by another installation of the operator, %s", trace.WrittenBy)
	}
	return Clean, "this installation wrote it, and the write arrived when the VectorSidecar was gone"
}

// Among returns what FindLeftovers asks for, of all VectorSidecars and ClusterVectorSidecars
// that there are. The latter exist in every namespace: they take out themselves what is in
// one that they do not select any more.
func Among(sidecars []v1alpha1.VectorSidecar, clusters []v1alpha1.ClusterVectorSidecar) (exists func(namespace, manager string) bool) {
	type key struct{ namespace, manager string }
	there := map[key]bool{}
	for i := range clusters {
		there[key{"", meta.Manager(meta.InNamespace(clusters[i].Name))}] = true
	}
	for i := range sidecars {
		there[key{sidecars[i].Namespace, meta.Manager(sidecars[i].Name)}] = true
	}
	return func(namespace, manager string) bool { return there[key{namespace, manager}] || there[key{"", manager}] }
}

// OrCluster counts every ClusterVectorSidecar as there, for a caller who cannot tell.
func OrCluster(exists func(namespace, manager string) bool) func(namespace, manager string) bool {
	return func(namespace, manager string) bool {
		_, isCluster := meta.ClusterOf(manager)
		return isCluster || exists(namespace, manager)
	}
}
