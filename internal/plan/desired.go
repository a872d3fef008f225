// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Desired is what one VectorSidecar wants in a workload.
type Desired struct {
	overlay *workload.Overlay
	// sidecar is the name of the VectorSidecar.
	sidecar string
	// injectedHash identifies this sidecar and its configuration.
	injectedHash string
	// whole is that of the sidecar with all annotations that yield.
	whole string
	// asked is the input that it was rendered for.
	asked Asked
	// alone is applied to a workload that no other VectorSidecar writes to; annotations
	// are its annotations.
	alone       applied
	annotations map[string]string
	// marks are further annotations, the same with or without other VectorSidecars.
	marks map[string]string
	// lesser is the same for the many workloads that keep their node by themselves, nil if that makes
	// no difference.
	lesser *Desired
}

// QoSClass returns the class of a workload's pods with this sidecar in them.
func (d *Desired) QoSClass(in *workload.View) corev1.PodQOSClass { return d.overlay.QoSClass(in) }

// applied is an apply body and its hash. It is plain if its annotation keys name no
// VectorSidecar.
type applied struct {
	tree    map[string]any
	hash    string
	isPlain bool
}

// NewDesired returns what an overlay of a VectorSidecar wants in a workload. container
// is the name of its container, configVersion a digest of the Vector configuration. The
// annotations are for people and scripts; the operator itself goes by managed fields.
// marks are annotations by key that may be missing without a difference.
func NewDesired(overlay *workload.Overlay, sidecar, container, configVersion string, marks map[string]string) *Desired {
	// The overlay does not include the content of a configuration that is reloaded.
	injectedHash := meta.Digest([]byte(overlay.Hash+" "+configVersion), 8)
	desired := &Desired{overlay: overlay, sidecar: sidecar, injectedHash: injectedHash, whole: injectedHash, marks: marks, annotations: map[string]string{
		meta.AnnotationInjectedHash:     injectedHash,
		meta.AnnotationSidecarName:      sidecar,
		meta.AnnotationContainerName:    container,
		meta.AnnotationConfigMapVersion: configVersion,
	}}
	desired.alone = desired.apply(plainly)
	desired.alone.isPlain = true
	if keys := overlay.YieldsToVolumes; len(keys) > 0 {
		desired.lesser = desired.without(keys, nil)
	}
	return desired
}

// For returns a copy with the input that it was rendered for, which is noted in
// workloads.
func (d *Desired) For(asked Asked) *Desired {
	noted := *d
	noted.asked = asked
	if d.lesser != nil {
		noted.lesser = d.lesser.For(asked)
	}
	return &noted
}

// InjectedHash is the value of the annotation injected-hash.
func (d *Desired) InjectedHash() string { return d.injectedHash }

// AskedDigest is the digest of the input that it was rendered for, without the workload.
func (d *Desired) AskedDigest() string { return d.asked.Digest }

// Container returns the overlay's container of that name, or nil.
func (d *Desired) Container(name string) *corev1.Container { return d.overlay.Container(name) }

// Template is what is merged into a workload's pod template; it must not be changed.
func (d *Desired) Template() *corev1.PodTemplateSpec { return &d.overlay.Template }

// Sidecar is Vector's container, nil if the templates give it another name.
func (d *Desired) Sidecar() *corev1.Container {
	return d.overlay.Container(d.annotations[meta.AnnotationContainerName])
}

// Shares reports whether an application container is to mount a volume.
func (d *Desired) Shares(volume string) bool {
	return slices.ContainsFunc(d.overlay.Mounts, func(m workload.Mount) bool { return m.Name == volume })
}

// Mounts reports whether one of its volumes mounts a ConfigMap.
func (d *Desired) Mounts(configMap string) bool {
	return slices.ContainsFunc(d.overlay.Template.Spec.Volumes, func(v corev1.Volume) bool {
		isProjected := v.Projected != nil && slices.ContainsFunc(v.Projected.Sources, func(s corev1.VolumeProjection) bool {
			return s.ConfigMap != nil && s.ConfigMap.Name == configMap
		})
		return isProjected || v.ConfigMap != nil && v.ConfigMap.Name == configMap
	})
}

// PullSecrets are the names of those that it brings and that pods would not have without it.
func (d *Desired) PullSecrets() []string { return d.overlay.Brings }

// Warning is a warning from the templates, or "".
func (d *Desired) Warning() string { return d.overlay.Warning }

// beside returns what to apply to a workload next to other VectorSidecars that have
// written to it, or will. An annotation has one owner and one value, so only one of
// them gets the plain annotations. Whoever has them keeps them.
func (d *Desired) beside(manager string, policy Policy, view *workload.View) applied {
	isSecond := policy.Second
	for other, owned := range view.Owned {
		isSecond = isSecond || other != manager && owned.HasPlainAnnotations
	}
	isPlain, key := !isSecond || view.Owned[manager].HasPlainAnnotations, plainly
	if !isPlain {
		key = func(key string) string { return meta.Beside(key, meta.SidecarOf(manager)) }
	}
	if view.Adapter().Traits.AtomicLists {
		want := d.as(key, d.overlay.Recorded)
		want.isPlain = isPlain
		return want
	}
	if isPlain {
		return d.alone
	}
	return d.apply(key)
}

// plainly is for the annotations of the first VectorSidecar of a workload.
func plainly(key string) string { return key }

// apply returns what is applied to workloads whose lists are merged by key.
func (d *Desired) apply(key func(string) string) applied {
	return d.as(key, func(annotations map[string]any) map[string]any {
		return map[string]any{
			"metadata": map[string]any{"annotations": annotations},
			"spec":     map[string]any{"template": d.overlay.Body},
		}
	})
}

func (d *Desired) as(key func(string) string, build func(annotations map[string]any) map[string]any) applied {
	annotations := map[string]any{meta.AnnotationInjected: "true"}
	for plain, value := range d.annotations {
		annotations[key(plain)] = value
	}
	for key, value := range d.marks {
		annotations[key] = value
	}
	tree := build(annotations)
	return applied{tree: tree, hash: workload.Hash(tree)}
}

// isApplied reports whether a workload carries exactly what is desired.
func (d *Desired) isApplied(manager string, want *applied, view *workload.View) bool {
	owned := view.Owned[manager]
	return owned.Hash == want.hash && len(owned.Leftovers) == 0 && haveMounts(d.overlay.Mounts, view.MountsOf(manager))
}

// haveMounts reports whether the mounts in the application's containers are the wanted
// ones.
func haveMounts(wanted, there []workload.Mount) bool {
	return len(wanted) == len(there) && !slices.ContainsFunc(wanted, func(want workload.Mount) bool {
		return !slices.ContainsFunc(there, func(is workload.Mount) bool { return equality.Semantic.DeepEqual(is, want) })
	})
}
