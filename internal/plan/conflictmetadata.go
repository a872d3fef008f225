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

// metadataConflict finds pod labels and annotations that the overlay would take from other field managers. A
// key that a user changed after the operator wrote it is drift and not a conflict, because the workload already
// has this sidecar.
func metadataConflict(manager string, desired *Desired, view *workload.View) *obstacle {
	overlay := &desired.overlay.Template
	for _, key := range slices.Sorted(maps.Keys(overlay.Labels)) {
		if slices.Contains(view.SelectorKeys, key) {
			return conflict("the workload finds its pods by the label %q, which the sidecar would set: take it out of sidecar.podLabels or the templates", key)
		}
	}
	ours, carries := view.Owned[manager]
	if carries && ours.InjectedHash == desired.InjectedHash() {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(overlay.Labels)) {
		if slices.Contains(view.PodLabels, key) && !slices.Contains(ours.PodLabels, key) {
			return conflict("the workload's pods have a label %q already: take it out of sidecar.podLabels or the templates", key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(overlay.Annotations)) {
		isForeign := slices.Contains(view.PodAnnotations, key) && !slices.Contains(ours.PodAnnotations, key)
		if isForeign && !strings.HasPrefix(key, meta.Group+"/") {
			return conflict("the workload's pods have an annotation %q already: take it out of sidecar.podAnnotations or the templates", key)
		}
	}
	return nil
}
