// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"maps"
	"slices"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// metadataConflict returns a block if the overlay would set a pod label or annotation that another field manager owns,
// or a label of the workload's selector. If the workload already has this sidecar, a key that a user has changed is
// drift and not a conflict.
func metadataConflict(manager string, desired *Desired, view *workload.View) *Block {
	overlay := &desired.overlay.Template
	for _, key := range slices.Sorted(maps.Keys(overlay.Labels)) {
		if slices.Contains(view.SelectorKeys, key) {
			return newConflict("the workload's selector uses the label %q, which the sidecar would set; remove the label from sidecar.podLabels or the templates", key)
		}
	}
	owned, carries := view.Owned[manager]
	if carries && owned.InjectedHash == desired.InjectedHash() {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(overlay.Labels)) {
		if slices.Contains(view.PodLabels, key) && !slices.Contains(owned.PodLabels, key) {
			return newConflict("the workload's pods already have a label %q; remove the label from sidecar.podLabels or the templates", key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(overlay.Annotations)) {
		isForeign := slices.Contains(view.PodAnnotations, key) && !slices.Contains(owned.PodAnnotations, key)
		if isForeign && !strings.HasPrefix(key, meta.Group+"/") {
			return newConflict("the workload's pods already have an annotation %q; remove the annotation from sidecar.podAnnotations or the templates", key)
		}
	}
	return nil
}
