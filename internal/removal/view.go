// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package removal

import (
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// newView returns the view of a workload for a removal. After a restore from a backup, or an apply of the output
// of inject, managedFields name only the tool of the application owner and no manager of the operator. In this
// case, the list in the pod template determines the fields of the sidecar.
func newView(object workload.Object) workload.View {
	view := workload.NewView(object)
	for _, trace := range workload.ReadOwnership(object).Traces {
		if trace.Applied || trace.Patched {
			continue
		}
		if owned, isThere := ownedItems(object)[trace.Manager]; isThere {
			if view.Owned == nil {
				view.Owned = map[string]workload.OwnedFields{}
			}
			view.Owned[trace.Manager] = owned
		}
	}
	return view
}

// ownedItems returns the fields of the operator according to the lists in the pod template, independent of
// managedFields. It adds the operator's annotations of the workload, which are not in a list.
func ownedItems(object workload.Object) map[string]workload.OwnedFields {
	bare, _ := workload.ToObject(object.DeepCopyObject())
	bare.SetManagedFields(nil)
	listed := workload.NewView(bare).Owned
	for _, owned := range listed {
		for key, value := range object.GetAnnotations() {
			if isOperatorKey(key) {
				tree.EnsureMap(owned.Tree, "metadata", "annotations")[key] = value
			}
		}
	}
	return listed
}
