// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Yielding returns what is desired in a workload where others have some of the pod annotations that
// yield: it leaves those out.
func (d *Desired) Yielding(manager string, view *workload.View) *Desired {
	keys := d.yields(manager, view)
	if len(keys) == 0 {
		return d
	}
	overlay, err := d.overlay.WithoutAnnotations(keys)
	if err != nil {
		return d // Its body was written once already, so it can be again.
	}
	made := NewDesired(overlay, d.sidecar, d.annotations[meta.AnnotationSidecarName], d.annotations[meta.AnnotationConfigMapVersion], d.marks)
	made.asked, made.predecessor = d.asked, d.predecessor
	return made
}

// yields returns the keys that yield and that somebody else has.
func (d *Desired) yields(manager string, view *workload.View) []string {
	var keys []string
	for _, key := range d.overlay.Yields {
		if slices.Contains(view.PodAnnotations, key) && !slices.Contains(view.Owned[manager].PodAnnotations, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// Yielded says which pod annotations are left to others, what is to be added to theirs, and where;
// nothing of those that say it already.
func (d *Desired) Yielded(manager string, view *workload.View) []string {
	var said []string
	for _, key := range d.yields(manager, view) {
		text := d.overlay.Template.Annotations[key]
		if isListed(text, view.PodTexts[key]) {
			continue
		}
		where := "the workload's own pod template"
		for other, owned := range view.Owned {
			if slices.Contains(owned.PodAnnotations, key) {
				where = fmt.Sprintf("sidecar.podAnnotations of VectorSidecar %s, which sets it", meta.SidecarOf(other))
			}
		}
		said = append(said, fmt.Sprintf("leaves the pod annotation %s to who has it: add %q to its value in %s", key, text, where))
	}
	return said
}

// isListed reports whether a text is one of those that another lists with commas.
func isListed(text, list string) bool {
	return slices.ContainsFunc(strings.Split(list, ","), func(item string) bool { return strings.TrimSpace(item) == text })
}
