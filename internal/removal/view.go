// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package removal

import (
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// viewOf returns what a removal sees of a workload. Of a sidecar that was restored from a backup,
// or applied as inject has printed it, none of our managers is on record, and its owner's tool is
// for all of it: then the pod template's own list says what was added.
func viewOf(object workload.Object) workload.View {
	view := workload.Of(object)
	for _, trace := range workload.TracesOf(object) {
		if trace.Applied || trace.Patched {
			continue
		}
		if of, isThere := listedIn(object)[trace.Manager]; isThere {
			if view.Owned == nil {
				view.Owned = map[string]workload.Owned{}
			}
			view.Owned[trace.Manager] = of
		}
	}
	return view
}

// listedIn returns what the pod template's lists say is the operator's, whoever is on record
// for it, and the operator's annotations of the workload, which no list names.
func listedIn(object workload.Object) map[string]workload.Owned {
	bare, _ := workload.As(object.DeepCopyObject())
	bare.SetManagedFields(nil)
	listed := workload.Of(bare).Owned
	for _, of := range listed {
		for key, value := range object.GetAnnotations() {
			if isOurs(key) {
				tree.Below(of.Tree, "metadata", "annotations")[key] = value
			}
		}
	}
	return listed
}
