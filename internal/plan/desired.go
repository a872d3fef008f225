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

// Desired is what one VectorSidecar wants of a workload.
type Desired struct {
	overlay *workload.Overlay
	// sidecar is the name of the VectorSidecar.
	sidecar string
	// injectedHash tells this sidecar, its configuration included, from others.
	injectedHash string
	// asked is what it was rendered for.
	asked Asked
	// predecessor is the same as releases rendered it that noted nothing of that in
	// workloads; nil where none is asked for.
	predecessor *Desired
	// alone is applied to a workload that no other VectorSidecar has a hand
	// in, annotations are its annotations.
	alone       applied
	annotations map[string]string
	// marks are annotations beside those, whatever other VectorSidecars do.
	marks map[string]string
}

// applied is what is applied, and its hash. It is plain if its annotations have no
// VectorSidecar in their keys.
type applied struct {
	tree    map[string]any
	hash    string
	isPlain bool
}

// NewDesired returns what an overlay of a VectorSidecar asks of a workload. container is
// the name of its container, configVersion a digest of the Vector configuration. The
// annotations are for people and scripts; the operator itself looks at what its manager
// owns. marks are annotations by their keys, whose lack makes no difference.
func NewDesired(overlay *workload.Overlay, sidecar, container, configVersion string, marks map[string]string) *Desired {
	// The overlay does not tell the content of a configuration that is reloaded.
	injectedHash := meta.Digest([]byte(overlay.Hash+" "+configVersion), 8)
	desired := &Desired{overlay: overlay, sidecar: sidecar, injectedHash: injectedHash, marks: marks, annotations: map[string]string{
		meta.AnnotationInjectedHash:     injectedHash,
		meta.AnnotationManagedBy:        sidecar,
		meta.AnnotationSidecarName:      container,
		meta.AnnotationConfigMapVersion: configVersion,
	}}
	desired.alone = desired.apply(func(key string) string { return key })
	desired.alone.isPlain = true
	return desired
}

// For returns the same with what it was rendered for, which is noted in workloads.
func (d *Desired) For(asked Asked) *Desired {
	noted := *d
	noted.asked = asked
	return &noted
}

// After returns the same for a workload that says nothing of what its sidecar was asked
// for with. One that carries just what an earlier release rendered of what is asked for
// now is as good as one that says so.
func (d *Desired) After(predecessor *Desired) *Desired {
	later := *d
	later.predecessor = predecessor
	return &later
}

// InjectedHash is the value of the annotation injected-hash.
func (d *Desired) InjectedHash() string { return d.injectedHash }

// Container returns the container of a name among those of the overlay, nil if
// there is none.
func (d *Desired) Container(name string) *corev1.Container { return d.overlay.Container(name) }

// Shares tells whether an application's container is to mount a volume.
func (d *Desired) Shares(volume string) bool {
	return slices.ContainsFunc(d.overlay.Mounts, func(m workload.Mount) bool { return m.Name == volume })
}

// Mounts reports whether one of its volumes shows a ConfigMap.
func (d *Desired) Mounts(configMap string) bool {
	return slices.ContainsFunc(d.overlay.Template.Spec.Volumes, func(v corev1.Volume) bool {
		isProjected := v.Projected != nil && slices.ContainsFunc(v.Projected.Sources, func(s corev1.VolumeProjection) bool {
			return s.ConfigMap != nil && s.ConfigMap.Name == configMap
		})
		return isProjected || v.ConfigMap != nil && v.ConfigMap.Name == configMap
	})
}

// Warning is what the templates say that a person should know, or "".
func (d *Desired) Warning() string { return d.overlay.Warning }

// beside returns what is applied to a workload in the face of the others that
// have a hand in it, or will have: one of them has the plain annotations, and no
// annotation can have two owners and two values. Who has them keeps them.
func (d *Desired) beside(manager string, policy Policy, view *workload.View) applied {
	if view.Owned[manager].HasPlainAnnotations {
		return d.alone
	}
	isSecond := policy.Second
	for other, owned := range view.Owned {
		isSecond = isSecond || other != manager && owned.HasPlainAnnotations
	}
	if isSecond {
		return d.apply(func(key string) string { return meta.Beside(key, meta.SidecarOf(manager)) })
	}
	return d.alone
}

func (d *Desired) apply(key func(string) string) applied {
	annotations := map[string]any{meta.AnnotationInjected: "true"}
	for plain, value := range d.annotations {
		annotations[key(plain)] = value
	}
	for key, value := range d.marks {
		annotations[key] = value
	}
	tree := map[string]any{
		"metadata": map[string]any{"annotations": annotations},
		"spec":     map[string]any{"template": d.overlay.Body},
	}
	return applied{tree: tree, hash: workload.Hash(tree)}
}

// isApplied reports whether a workload carries what is desired, no less and no more.
func (d *Desired) isApplied(manager string, want *applied, view *workload.View) bool {
	owned := view.Owned[manager]
	return owned.Hash == want.hash && len(owned.Leftovers) == 0 && haveMounts(d.overlay.Mounts, view.MountsOf(manager))
}

// isIn is isApplied for who has not worked out what is applied; nil is in nothing.
func (d *Desired) isIn(manager string, policy Policy, view *workload.View) bool {
	if d == nil {
		return false
	}
	want := d.beside(manager, policy, view)
	return d.isApplied(manager, &want, view)
}

// haveMounts tells whether the mounts that are wanted in the application's
// containers are those that are there.
func haveMounts(wanted, there []workload.Mount) bool {
	return len(wanted) == len(there) && !slices.ContainsFunc(wanted, func(want workload.Mount) bool {
		return !slices.ContainsFunc(there, func(is workload.Mount) bool { return equality.Semantic.DeepEqual(is, want) })
	})
}
