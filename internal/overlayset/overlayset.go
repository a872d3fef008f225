// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package overlayset builds the OverlaySet of a namespace, the parameter of the chart's MutatingAdmissionPolicies.
// Inputs are the admission overlays of VectorSidecars; the output lists the sidecars that the API server injects, with
// conditions for the workloads. If the conditions cannot be expressed exactly, the operator injects the sidecar
// instead, and the OverlaySet has the reason. The package does not write objects.
package overlayset

import (
	"encoding/json"
	"fmt"
	"slices"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
)

const (
	// mostOverlays is the maximum number of overlays of a namespace. mostBytes is their maximum total size. The API
	// server evaluates every overlay for each workload that is written in the namespace.
	mostOverlays = 100
	mostBytes    = 768 << 10
)

// SidecarOverlays are the overlays of one VectorSidecar or ClusterVectorSidecar in the OverlaySet of a namespace.
type SidecarOverlays struct {
	Overlays []v1alpha1.Overlay
	Items    Items
}

// CanInject reports whether the API server injects at least one of the overlays.
func (p *SidecarOverlays) CanInject() bool {
	return slices.ContainsFunc(p.Overlays, func(o v1alpha1.Overlay) bool { return o.SkipReason == "" })
}

// Items are the items that overlays add to a pod.
type Items struct {
	Native, InitContainers, Containers, Volumes []v1alpha1.OverlayItem
	PodAnnotations, Annotations                 []v1alpha1.OverlayAnnotation
	ApplicationEnv                              []v1alpha1.OverlayApplicationEnv
}

// SplitBySidecar returns the overlays of an OverlaySet by the names of their VectorSidecars.
func SplitBySidecar(spec *v1alpha1.OverlaySetSpec) map[string]SidecarOverlays {
	bySidecar, owner := map[string]SidecarOverlays{}, map[string]string{}
	for i := range spec.Overlays {
		overlay := spec.Overlays[i]
		sidecarOverlays := bySidecar[overlay.VectorSidecar]
		overlay.Supersedes = nil // The field depends on the other VectorSidecars.
		sidecarOverlays.Overlays = append(sidecarOverlays.Overlays, overlay)
		bySidecar[overlay.VectorSidecar], owner[overlay.ID] = sidecarOverlays, overlay.VectorSidecar
	}
	addItems := func(items []v1alpha1.OverlayItem, list func(*Items) *[]v1alpha1.OverlayItem) {
		for _, item := range items {
			sidecarOverlays := bySidecar[owner[item.OverlayID]]
			*list(&sidecarOverlays.Items) = append(*list(&sidecarOverlays.Items), item)
			bySidecar[owner[item.OverlayID]] = sidecarOverlays
		}
	}
	native := slices.Clone(spec.Native)
	slices.Reverse(native)
	addItems(native, func(i *Items) *[]v1alpha1.OverlayItem { return &i.Native })
	addItems(spec.InitContainers, func(i *Items) *[]v1alpha1.OverlayItem { return &i.InitContainers })
	addItems(spec.Containers, func(i *Items) *[]v1alpha1.OverlayItem { return &i.Containers })
	addItems(spec.Volumes, func(i *Items) *[]v1alpha1.OverlayItem { return &i.Volumes })
	annotated := func(annotations []v1alpha1.OverlayAnnotation, list func(*Items) *[]v1alpha1.OverlayAnnotation) {
		for _, annotation := range annotations {
			sidecarOverlays := bySidecar[owner[annotation.OverlayID]]
			*list(&sidecarOverlays.Items) = append(*list(&sidecarOverlays.Items), annotation)
			bySidecar[owner[annotation.OverlayID]] = sidecarOverlays
		}
	}
	annotated(spec.PodAnnotations, func(i *Items) *[]v1alpha1.OverlayAnnotation { return &i.PodAnnotations })
	annotated(spec.Annotations, func(i *Items) *[]v1alpha1.OverlayAnnotation { return &i.Annotations })
	for _, env := range spec.ApplicationEnv {
		sidecarOverlays := bySidecar[owner[env.OverlayID]]
		sidecarOverlays.Items.ApplicationEnv = append(sidecarOverlays.Items.ApplicationEnv, env)
		bySidecar[owner[env.OverlayID]] = sidecarOverlays
	}
	return bySidecar
}

// Compose combines the overlays of VectorSidecars, and of ClusterVectorSidecars in the namespace. The VectorSidecars
// are sorted by decision.SortByPrecedence. If the overlays of a VectorSidecar are not known yet, Compose leaves out all
// later VectorSidecars, because they must not be injected where that one takes precedence. The operator injects
// overlays that exceed a limit.
func Compose(sidecars []v1alpha1.VectorSidecar, scopes desired.ParentScopes, bySidecar map[string]SidecarOverlays) v1alpha1.OverlaySetSpec {
	spec := v1alpha1.OverlaySetSpec{
		Overlays: []v1alpha1.Overlay{}, Native: []v1alpha1.OverlayItem{}, InitContainers: []v1alpha1.OverlayItem{},
		Containers: []v1alpha1.OverlayItem{}, Volumes: []v1alpha1.OverlayItem{},
		PodAnnotations: []v1alpha1.OverlayAnnotation{}, Annotations: []v1alpha1.OverlayAnnotation{},
	}
	bytes := 0
	for n := range sidecars {
		sidecarOverlays, ok := bySidecar[sidecars[n].Name]
		if !ok {
			break
		}
		size := sidecarOverlays.size()
		if len(spec.Overlays)+len(sidecarOverlays.Overlays) > mostOverlays || bytes+size > mostBytes {
			sidecarOverlays = sidecarOverlays.withoutOverlays(fmt.Sprintf("preceding VectorSidecars use all of the %d overlays, or %d bytes, of the namespace", mostOverlays, mostBytes))
		} else {
			bytes += size
		}
		spec.Overlays = append(spec.Overlays, sidecarOverlays.Overlays...)
		spec.Native = append(spec.Native, sidecarOverlays.Items.Native...)
		spec.InitContainers = append(spec.InitContainers, sidecarOverlays.Items.InitContainers...)
		spec.Containers = append(spec.Containers, sidecarOverlays.Items.Containers...)
		spec.Volumes = append(spec.Volumes, sidecarOverlays.Items.Volumes...)
		spec.PodAnnotations = append(spec.PodAnnotations, sidecarOverlays.Items.PodAnnotations...)
		spec.Annotations = append(spec.Annotations, sidecarOverlays.Items.Annotations...)
		spec.ApplicationEnv = append(spec.ApplicationEnv, sidecarOverlays.Items.ApplicationEnv...)
	}
	slices.Reverse(spec.Native)
	byName := map[string]*v1alpha1.VectorSidecar{}
	for i := range sidecars {
		byName[sidecars[i].Name] = &sidecars[i]
	}
	takesPrecedence := func(a, b string) bool { return decision.TakesPrecedence(byName[a], byName[b], scopes) }
	for i := range spec.Overlays {
		spec.Overlays[i].Supersedes = supersedingSidecars(&spec.Overlays[i], spec.Overlays, takesPrecedence)
	}
	return spec
}

// size returns the approximate size of the overlays in bytes.
func (p *SidecarOverlays) size() int {
	text, _ := json.Marshal(p) // The part was made from JSON.
	return len(text)
}

// withoutOverlays returns the entry of a sidecar that only the operator injects, with the reason.
func (p *SidecarOverlays) withoutOverlays(reason string) SidecarOverlays {
	if len(p.Overlays) == 0 {
		return SidecarOverlays{}
	}
	overlay := p.Overlays[0]
	placeholder := newSkipped(overlay.VectorSidecar, overlay.Kinds, overlay.Requirements, reason)
	placeholder.SkipsOwned = overlay.SkipsOwned
	return SidecarOverlays{Overlays: []v1alpha1.Overlay{placeholder}}
}

// supersedingSidecars returns the VectorSidecars that take precedence over the overlay's VectorSidecar and conflict with the
// overlay. The operator decides which sidecar a workload has.
func supersedingSidecars(overlay *v1alpha1.Overlay, overlays []v1alpha1.Overlay, takesPrecedence func(a, b string) bool) []string {
	superseded := []string{}
	for i := range overlays {
		other := &overlays[i]
		if other.VectorSidecar == overlay.VectorSidecar || slices.Contains(superseded, other.VectorSidecar) || !takesPrecedence(other.VectorSidecar, overlay.VectorSidecar) {
			continue
		}
		names := slices.Concat(other.InitNames, other.ContainerNames)
		// If an overlay is left to the operator, its items are not known here, so it counts as a conflict.
		isClash := other.SkipReason != "" || haveCommonItem(slices.Concat(overlay.InitNames, overlay.ContainerNames), names) ||
			haveCommonItem(overlay.VolumeNames, other.VolumeNames) || haveCommonItem(overlay.Ports, other.Ports) ||
			haveCommonItem(overlay.Needs, other.VolumeNames) || haveCommonItem(overlay.AnnotationKeys, other.AnnotationKeys)
		if isClash {
			superseded = append(superseded, other.VectorSidecar)
		}
	}
	return superseded
}

// haveCommonItem reports whether two lists have an item in common.
func haveCommonItem(a, b []string) bool {
	return slices.ContainsFunc(a, func(item string) bool { return slices.Contains(b, item) })
}
