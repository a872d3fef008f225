// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package overlayset makes the OverlaySet of a namespace: the sidecars that the API server puts
// into workloads itself, and for which workloads each is, in terms that the expressions of the
// chart's MutatingAdmissionPolicies can judge. What these cannot say exactly is left to the
// operator, with the reason. It writes nothing.
package overlayset

import (
	"encoding/json"
	"fmt"
	"slices"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
)

const (
	// mostOverlays bounds how many overlays a namespace has, mostBytes how large they are
	// together: each is judged for each workload that is written in the namespace.
	mostOverlays = 100
	mostBytes    = 768 << 10
)

// Part is what one VectorSidecar, or one ClusterVectorSidecar, has in the OverlaySet of its namespace.
type Part struct {
	Overlays []v1alpha1.Overlay
	Items    Items
}

// Offers reports whether anything is to be injected.
func (p *Part) Offers() bool {
	return slices.ContainsFunc(p.Overlays, func(o v1alpha1.Overlay) bool { return o.SkipReason == "" })
}

// Items are what overlays add to a pod.
type Items struct {
	Native, InitContainers, Containers, Volumes []v1alpha1.OverlayItem
	PodAnnotations, Annotations                 []v1alpha1.OverlayAnnotation
	Tells                                       []v1alpha1.OverlayApplicationEnv
}

// Parts takes an OverlaySet apart, by the names of VectorSidecars.
func Parts(of *v1alpha1.OverlaySetSpec) map[string]Part {
	parts, owner := map[string]Part{}, map[string]string{}
	for i := range of.Overlays {
		overlay := of.Overlays[i]
		part := parts[overlay.VectorSidecar]
		overlay.Supersedes = nil // It depends on the others.
		part.Overlays = append(part.Overlays, overlay)
		parts[overlay.VectorSidecar], owner[overlay.ID] = part, overlay.VectorSidecar
	}
	each := func(items []v1alpha1.OverlayItem, list func(*Items) *[]v1alpha1.OverlayItem) {
		for _, item := range items {
			part := parts[owner[item.OverlayID]]
			*list(&part.Items) = append(*list(&part.Items), item)
			parts[owner[item.OverlayID]] = part
		}
	}
	native := slices.Clone(of.Native)
	slices.Reverse(native)
	each(native, func(i *Items) *[]v1alpha1.OverlayItem { return &i.Native })
	each(of.InitContainers, func(i *Items) *[]v1alpha1.OverlayItem { return &i.InitContainers })
	each(of.Containers, func(i *Items) *[]v1alpha1.OverlayItem { return &i.Containers })
	each(of.Volumes, func(i *Items) *[]v1alpha1.OverlayItem { return &i.Volumes })
	annotated := func(all []v1alpha1.OverlayAnnotation, list func(*Items) *[]v1alpha1.OverlayAnnotation) {
		for _, annotation := range all {
			part := parts[owner[annotation.OverlayID]]
			*list(&part.Items) = append(*list(&part.Items), annotation)
			parts[owner[annotation.OverlayID]] = part
		}
	}
	annotated(of.PodAnnotations, func(i *Items) *[]v1alpha1.OverlayAnnotation { return &i.PodAnnotations })
	annotated(of.Annotations, func(i *Items) *[]v1alpha1.OverlayAnnotation { return &i.Annotations })
	for _, tell := range of.ApplicationEnv {
		part := parts[owner[tell.OverlayID]]
		part.Items.Tells = append(part.Items.Tells, tell)
		parts[owner[tell.OverlayID]] = part
	}
	return parts
}

// Compose puts the parts of VectorSidecars together, and of ClusterVectorSidecars in the namespace, in
// the order that decision.InOrder gives them. If nothing is known of one of them yet, those after
// it have to wait: they must not get in where it would. What exceeds the bounds is left to the operator.
func Compose(sidecars []v1alpha1.VectorSidecar, parts map[string]Part) v1alpha1.OverlaySetSpec {
	made := v1alpha1.OverlaySetSpec{
		Overlays: []v1alpha1.Overlay{}, Native: []v1alpha1.OverlayItem{}, InitContainers: []v1alpha1.OverlayItem{},
		Containers: []v1alpha1.OverlayItem{}, Volumes: []v1alpha1.OverlayItem{},
		PodAnnotations: []v1alpha1.OverlayAnnotation{}, Annotations: []v1alpha1.OverlayAnnotation{},
	}
	bytes := 0
	for n := range sidecars {
		part, isKnown := parts[sidecars[n].Name]
		if !isKnown {
			break
		}
		size := part.size()
		if len(made.Overlays)+len(part.Overlays) > mostOverlays || bytes+size > mostBytes {
			part = part.without(fmt.Sprintf("the namespace has more than %d overlays, or more than %d bytes of them, before it", mostOverlays, mostBytes))
		} else {
			bytes += size
		}
		made.Overlays = append(made.Overlays, part.Overlays...)
		made.Native = append(made.Native, part.Items.Native...)
		made.InitContainers = append(made.InitContainers, part.Items.InitContainers...)
		made.Containers = append(made.Containers, part.Items.Containers...)
		made.Volumes = append(made.Volumes, part.Items.Volumes...)
		made.PodAnnotations = append(made.PodAnnotations, part.Items.PodAnnotations...)
		made.Annotations = append(made.Annotations, part.Items.Annotations...)
		made.ApplicationEnv = append(made.ApplicationEnv, part.Items.Tells...)
	}
	slices.Reverse(made.Native)
	byName := map[string]*v1alpha1.VectorSidecar{}
	for i := range sidecars {
		byName[sidecars[i].Name] = &sidecars[i]
	}
	for i := range made.Overlays {
		made.Overlays[i].Supersedes = yields(&made.Overlays[i], made.Overlays, byName)
	}
	return made
}

// size is the part's in bytes, roughly.
func (p *Part) size() int {
	text, _ := json.Marshal(p) // It was made from JSON.
	return len(text)
}

// without returns the part with the reason why only the operator injects the sidecar.
func (p *Part) without(why string) Part {
	if len(p.Overlays) == 0 {
		return Part{}
	}
	first := p.Overlays[0]
	left := claim(first.VectorSidecar, first.Kinds, first.Requirements, why)
	left.SkipsOwned = first.SkipsOwned
	return Part{Overlays: []v1alpha1.Overlay{left}}
}

// yields returns the VectorSidecars that come before an overlay's and that it clashes with: which of
// the two a workload has is for the operator to say.
func yields(overlay *v1alpha1.Overlay, all []v1alpha1.Overlay, sidecars map[string]*v1alpha1.VectorSidecar) []string {
	found := []string{}
	for i := range all {
		other := &all[i]
		if other.VectorSidecar == overlay.VectorSidecar || slices.Contains(found, other.VectorSidecar) || !decision.ComesBefore(sidecars[other.VectorSidecar], sidecars[overlay.VectorSidecar]) {
			continue
		}
		names := slices.Concat(other.InitNames, other.ContainerNames)
		// Nobody but the operator knows what one adds that is left to it.
		isClash := other.SkipReason != "" || share(slices.Concat(overlay.InitNames, overlay.ContainerNames), names) ||
			share(overlay.VolumeNames, other.VolumeNames) || share(overlay.Ports, other.Ports) ||
			share(overlay.Needs, other.VolumeNames) || share(overlay.AnnotationKeys, other.AnnotationKeys)
		if isClash {
			found = append(found, other.VectorSidecar)
		}
	}
	return found
}

func share(a, b []string) bool {
	return slices.ContainsFunc(a, func(one string) bool { return slices.Contains(b, one) })
}
