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

// OmitOptional returns the desired sidecar without the optional pod annotations that the workload does not need: other
// field managers already set them, or a volume of the workload makes them ineffective.
func (d *Desired) OmitOptional(manager string, view *workload.View) *Desired {
	keys := d.keysSetByOthers(manager, view)
	if needless := d.overlay.OptionalWithNodeVolumes; len(needless) > 0 && blocksNodeRemoval(view) {
		for _, key := range needless {
			if !slices.Contains(view.PodAnnotations, key) {
				keys = append(keys, key)
			}
		}
	}
	if len(keys) == 0 {
		return d
	}
	if d.withoutOptional != nil && slices.Equal(keys, d.overlay.OptionalWithNodeVolumes) {
		return d.withoutOptional
	}
	return d.omit(keys, nil)
}

// WithoutPullSecrets returns the desired sidecar without the named pull secrets, for a workload that lists them itself.
func (d *Desired) WithoutPullSecrets(names []string) *Desired { return d.omit(nil, names) }

// omit returns the desired sidecar without the pod annotations of some keys and without some pull secrets.
func (d *Desired) omit(keys, secrets []string) *Desired {
	overlay, err := d.overlay.Omit(keys, secrets)
	if err != nil {
		return d // Omit fails only if the body cannot be encoded, and it was encoded before.
	}
	reduced := NewDesired(overlay, d.sidecar, d.annotations[meta.AnnotationContainerName], d.annotations[meta.AnnotationConfigMapVersion], d.notes)
	reduced.fullHash = d.fullHash
	return reduced.WithInput(d.input)
}

// blocksNodeRemoval reports whether a volume of the application prevents the Cluster Autoscaler from removing the node
// of a pod. An annotation of the workload may still allow the removal.
func blocksNodeRemoval(view *workload.View) bool {
	return slices.ContainsFunc(view.ApplicationVolumes(), func(volume workload.Volume) bool { return volume.IsOnNode() })
}

// keysSetByOthers returns the keys of optional annotations that other field managers already set on the workload's
// pods.
func (d *Desired) keysSetByOthers(manager string, view *workload.View) []string {
	var keys []string
	for _, key := range d.overlay.OptionalAnnotations {
		if slices.Contains(view.PodAnnotations, key) && !slices.Contains(view.Owned[manager].PodAnnotations, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// OmittedAnnotations returns messages about pod annotations that the sidecar does not set because other field managers
// set them. A message names the text that the annotation lacks, and the place to add it. An
// annotation that already contains the text has none.
func (d *Desired) OmittedAnnotations(manager string, view *workload.View) []string {
	var messages []string
	for _, key := range d.keysSetByOthers(manager, view) {
		missing := missingItems(key, d.overlay.Template.Annotations[key], view.PodTexts[key])
		if missing == "" {
			continue
		}
		location := "the workload's pod template"
		for otherManager, owned := range view.Owned {
			if slices.Contains(owned.PodAnnotations, key) {
				location = fmt.Sprintf("sidecar.podAnnotations of VectorSidecar %s", meta.SidecarName(otherManager))
			}
		}
		messages = append(messages, fmt.Sprintf("the sidecar does not change the pod annotation %s of another field manager; add %q to the annotation's value in %s", key, missing, location))
	}
	return messages
}

// NodeBlockingVolumes returns the names of the sidecar's volumes that prevent the Cluster Autoscaler from removing a
// node, separated by commas. It returns "" for none, and if the node could not be removed without the sidecar
// either. The receiver must be the Desired of the workload's Plan.
func (d *Desired) NodeBlockingVolumes(manager string, view *workload.View) string {
	const safeToEvictKey, key = "cluster-autoscaler.kubernetes.io/safe-to-evict", meta.AnnotationEvictableVolumes
	if blocksNodeRemoval(view) || view.PodTexts[safeToEvictKey] != "" {
		return ""
	}
	named := view.PodTexts[key]
	if _, carries := view.Owned[manager]; !carries && named == "" {
		named = d.overlay.Template.Annotations[key]
	}
	var names []string
	for i := range d.overlay.Template.Spec.Volumes {
		if volume := workload.NewVolume(&d.overlay.Template.Spec.Volumes[i]); volume.IsOnNode() {
			names = append(names, volume.Name)
		}
	}
	slices.Sort(names)
	return missingItems(key, strings.Join(names, ","), named)
}

// missingItems returns the comma-separated items of a text that are not in a comma-separated list. key is the key of
// the annotation that contains the list.
func missingItems(key, text, list string) string {
	items := strings.Split(list, ",")
	if key != meta.AnnotationEvictableVolumes { // The Cluster Autoscaler does not trim whitespace around a name.
		for i := range items {
			items[i] = strings.TrimSpace(items[i])
		}
	}
	isListed := func(item string) bool { return slices.Contains(items, item) }
	return strings.Join(slices.DeleteFunc(strings.Split(text, ","), isListed), ",")
}
