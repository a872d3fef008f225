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

// LeftoverAction is the action for a leftover sidecar of a workload.
type LeftoverAction string

const (
	// Clean means that the operator removes the leftover, because this installation wrote it and no mark says to keep
	// it. Such a leftover exists if a write arrives after the deletion of its VectorSidecar.
	Clean LeftoverAction = "Clean"
	// Report means that a user must decide about the leftover.
	Report LeftoverAction = "Report"
	// Retain means that the leftover was kept intentionally.
	Retain LeftoverAction = "Keep"
)

// LeftoverActions returns all actions.
func LeftoverActions() []LeftoverAction { return []LeftoverAction{Clean, Report, Retain} }

// Carrier is a workload that may have a sidecar, or other fields or annotations of the operator.
type Carrier struct {
	workload.Ref
	// Deleting reports whether the workload is being deleted, which also deletes its leftovers.
	Deleting bool
	Traces   []workload.Trace
}

// NewCarrier returns the Carrier of a workload.
func NewCarrier(object workload.Object) Carrier {
	return Carrier{Ref: workload.NewRef(object), Deleting: object.GetDeletionTimestamp() != nil, Traces: workload.ReadOwnership(object).Traces}
}

// Leftover describes the fields that one field manager left in one workload.
type Leftover struct {
	workload.Ref
	// Manager is the field manager. Sidecar is the name of the missing VectorSidecar, shortened if it is long.
	Manager, Sidecar string
	Action           LeftoverAction
	// Reason explains the action.
	Reason string
}

// FindLeftovers returns the leftovers in workloads, sorted by namespace, name and manager. The caller reports
// whether the VectorSidecar of a field manager exists in a namespace, including a VectorSidecar that is being
// deleted. The caller also names the installation that would remove the leftovers, "" for none.
func FindLeftovers(carriers iter.Seq[Carrier], exists func(namespace, manager string) bool, writtenBy string) []Leftover {
	var leftovers []Leftover
	for carrier := range carriers {
		if carrier.Deleting {
			continue
		}
		for _, trace := range carrier.Traces {
			if exists(carrier.Namespace, trace.Manager) {
				continue
			}
			action, reason := chooseAction(&trace, writtenBy)
			leftovers = append(leftovers, Leftover{
				Ref: carrier.Ref, Manager: trace.Manager, Sidecar: meta.SidecarName(trace.Manager), Action: action, Reason: reason,
			})
		}
	}
	slices.SortFunc(leftovers, func(a, b Leftover) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Manager, b.Manager))
	})
	return leftovers
}

// chooseAction returns the action and its reason for a leftover of a VectorSidecar that does not exist. Only a leftover that
// this installation has written, according to its annotation written-by, is removed.
func chooseAction(trace *workload.Trace, writtenBy string) (LeftoverAction, string) {
	switch {
	case trace.Orphan != "":
		return Retain, "the VectorSidecar was deleted with deletionPolicy Orphan"
	case !trace.Applied && trace.Listed:
		return Report, "the pod template was restored, and its managedFields do not contain an apply of the sidecar"
	case !trace.Applied && !trace.Patched:
		return Report, "only annotations remain, which another field manager has copied"
	case !trace.Applied:
		return Report, "only the managedFields entry of a patch remains"
	case trace.WrittenBy == "":
		return Report, "the annotation written-by is missing, so the sidecar may be kept intentionally"
	case trace.WrittenBy != writtenBy:
		return Report, fmt.Sprintf("another installation of the operator wrote the sidecar: %s", trace.WrittenBy)
	}
	return Clean, "this installation wrote the sidecar after the VectorSidecar was deleted"
}

// NewExistenceCheck returns the existence check that FindLeftovers needs, from all VectorSidecars and
// ClusterVectorSidecars. A ClusterVectorSidecar exists in every namespace, because it removes its own sidecars
// from namespaces that it does not select anymore.
func NewExistenceCheck(sidecars []v1alpha1.VectorSidecar, clusters []v1alpha1.ClusterVectorSidecar) (exists func(namespace, manager string) bool) {
	type key struct{ namespace, manager string }
	existing := map[key]bool{}
	for i := range clusters {
		existing[key{"", meta.Manager(meta.ClusterSidecarName(clusters[i].Name))}] = true
	}
	for i := range sidecars {
		existing[key{sidecars[i].Namespace, meta.Manager(sidecars[i].Name)}] = true
	}
	return func(namespace, manager string) bool {
		return existing[key{namespace, manager}] || existing[key{"", manager}]
	}
}

// AssumeClusters returns an existence check like exists, for which every ClusterVectorSidecar exists. It is for callers
// that cannot list ClusterVectorSidecars.
func AssumeClusters(exists func(namespace, manager string) bool) func(namespace, manager string) bool {
	return func(namespace, manager string) bool {
		_, isCluster := meta.ParseClusterName(manager)
		return isCluster || exists(namespace, manager)
	}
}
