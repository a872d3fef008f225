// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Desired is the desired sidecar of one VectorSidecar in a workload.
type Desired struct {
	overlay *workload.Overlay
	// sidecar is the name of the VectorSidecar.
	sidecar string
	// injectedHash identifies the sidecar and its configuration.
	injectedHash string
	// fullHash is the injectedHash of the sidecar with all optional annotations. injectedHash differs if the workload
	// does not need some of them.
	fullHash string
	// input is the requested input of the rendering.
	input RequestedInput
	// standalone is the apply body for a workload without other VectorSidecars. annotations are the annotations
	// in that body.
	standalone  applyBody
	annotations map[string]string
	notes       Notes
	// withoutOptional is the desired sidecar without the optional annotations that allow the removal of the pod's node.
	// It is for workloads with a volume that prevents this removal anyway, and nil without such annotations.
	withoutOptional *Desired
}

// QoSClass returns the QoS class of a workload's pods with this sidecar.
func (d *Desired) QoSClass(view *workload.View) corev1.PodQOSClass { return d.overlay.QoSClass(view) }

// Notes are annotations that describe the sidecar to users. No decision depends on them.
type Notes struct {
	// Marks are annotations of the workload that do not depend on other VectorSidecars.
	Marks map[string]string
	// AboutText is the text of the pod annotation for application teams (meta.AnnotationAbout), or "" for none.
	AboutText string
}

// applyBody is the body of an apply and its hash. isPlain reports whether the annotations have plain keys, which do not
// contain the name of a VectorSidecar.
type applyBody struct {
	tree    map[string]any
	hash    string
	isPlain bool
}

// NewDesired returns the desired sidecar for an overlay of a VectorSidecar. container is the name of Vector's
// container, and configVersion a digest of the Vector configuration. The annotations and notes are for users and
// scripts, because the operator itself reads managed fields.
func NewDesired(overlay *workload.Overlay, sidecar, container, configVersion string, notes Notes) *Desired {
	// overlay.Hash does not cover a configuration that Vector reloads, so configVersion is added.
	injectedHash := meta.Digest([]byte(overlay.Hash+" "+configVersion), 8)
	desired := &Desired{overlay: overlay, sidecar: sidecar, injectedHash: injectedHash, fullHash: injectedHash, notes: notes, annotations: map[string]string{
		meta.AnnotationInjectedHash:     injectedHash,
		meta.AnnotationSidecarName:      sidecar,
		meta.AnnotationContainerName:    container,
		meta.AnnotationConfigMapVersion: configVersion,
	}}
	desired.standalone = desired.apply(plainKey, notes.AboutText)
	desired.standalone.isPlain = true
	if keys := overlay.OptionalWithNodeVolumes; len(keys) > 0 {
		desired.withoutOptional = desired.omit(keys, nil)
	}
	return desired
}

// WithInput returns a copy of the desired sidecar with its requested input, which plans record on workloads.
func (d *Desired) WithInput(input RequestedInput) *Desired {
	noted := *d
	noted.input = input
	if d.withoutOptional != nil {
		noted.withoutOptional = d.withoutOptional.WithInput(input)
	}
	return &noted
}

// InjectedHash returns the value of the annotation injected-hash.
func (d *Desired) InjectedHash() string { return d.injectedHash }

// InputDigest returns the digest of the requested input, which does not include the workload.
func (d *Desired) InputDigest() string { return d.input.Digest }

// Container returns the overlay's container with a name, or nil if the overlay has no such container.
func (d *Desired) Container(name string) *corev1.Container { return d.overlay.Container(name) }

// Template returns the fields that are merged into a workload's pod template. Callers must not change them.
func (d *Desired) Template() *corev1.PodTemplateSpec { return &d.overlay.Template }

// Sidecar returns Vector's container, or nil if the templates give that container another name.
func (d *Desired) Sidecar() *corev1.Container {
	return d.overlay.Container(d.annotations[meta.AnnotationContainerName])
}

// Shares reports whether the sidecar mounts one of its volumes into an application container. volume is the name of the
// volume.
func (d *Desired) Shares(volume string) bool {
	return slices.ContainsFunc(d.overlay.Mounts, func(m workload.Mount) bool { return m.Name == volume })
}

// Mounts reports whether a volume of the sidecar contains the ConfigMap with a name.
func (d *Desired) Mounts(configMap string) bool {
	return slices.ContainsFunc(d.overlay.Template.Spec.Volumes, func(v corev1.Volume) bool {
		isProjected := v.Projected != nil && slices.ContainsFunc(v.Projected.Sources, func(s corev1.VolumeProjection) bool {
			return s.ConfigMap != nil && s.ConfigMap.Name == configMap
		})
		return isProjected || v.ConfigMap != nil && v.ConfigMap.Name == configMap
	})
}

// PullSecrets returns the names of the pull secrets that the sidecar adds to the pods.
func (d *Desired) PullSecrets() []string { return d.overlay.AddedPullSecrets }

// Warning returns the warning that the templates have rendered, or "" for none.
func (d *Desired) Warning() string { return d.overlay.Warning }

// bodyFor returns the apply body for a workload that other VectorSidecars may also write. Only one of these
// VectorSidecars sets the plain annotations, because an annotation has one owner and one value. It is the one that
// already sets them, or else the one with precedence. The others use keys with their names. aboutText is the text of
// the pod annotation AnnotationAbout.
func (d *Desired) bodyFor(manager string, policy Policy, view *workload.View, aboutText string) applyBody {
	isSecond := policy.Second
	for otherManager, owned := range view.Owned {
		isSecond = isSecond || otherManager != manager && owned.HasPlainAnnotations
	}
	isPlain, key := !isSecond || view.Owned[manager].HasPlainAnnotations, plainKey
	if !isPlain {
		key = func(key string) string { return meta.AnnotationKeyFor(key, meta.SidecarName(manager)) }
	}
	if view.Adapter().Traits.AtomicLists {
		desiredBody := d.buildBody(key, aboutText, d.overlay.RecordedBody)
		desiredBody.isPlain = isPlain
		return desiredBody
	}
	if isPlain && aboutText == d.notes.AboutText {
		return d.standalone
	}
	desiredBody := d.apply(key, aboutText)
	desiredBody.isPlain = isPlain
	return desiredBody
}

// plainKey returns the key of a plain annotation unchanged.
func plainKey(key string) string { return key }

// apply returns the apply body for kinds with lists that are merged by key. key returns the key of an annotation for a
// plain key.
func (d *Desired) apply(key func(string) string, aboutText string) applyBody {
	return d.buildBody(key, aboutText, func(annotations map[string]any) map[string]any {
		return map[string]any{
			"metadata": map[string]any{"annotations": annotations},
			"spec":     map[string]any{"template": d.overlay.Body},
		}
	})
}

// buildBody adds the annotations of the sidecar to the body that build returns. key returns the key of an annotation
// for a plain key.
func (d *Desired) buildBody(key func(string) string, aboutText string, build func(annotations map[string]any) map[string]any) applyBody {
	annotations := map[string]any{meta.AnnotationInjected: "true"}
	for plain, value := range d.annotations {
		annotations[key(plain)] = value
	}
	for key, value := range d.notes.Marks {
		annotations[key] = value
	}
	body := build(annotations)
	if aboutText != "" {
		body = withPodAnnotation(body, meta.AnnotationAbout(meta.Manager(d.sidecar)), aboutText)
	}
	return applyBody{tree: body, hash: workload.Hash(body)}
}

// withPodAnnotation returns a copy of an apply body that also sets an annotation of the pod template. It copies only
// the maps that it changes.
func withPodAnnotation(body map[string]any, key, value string) map[string]any {
	result := maps.Clone(body)
	parent := result
	for _, field := range []string{"spec", "template", "metadata", "annotations"} {
		child := map[string]any{}
		maps.Copy(child, tree.Map(parent[field]))
		parent[field], parent = child, child
	}
	parent[key] = value
	return result
}

// aboutTextIn returns the text of the pod annotation AnnotationAbout that a manager has set in a workload, or "" for
// none.
func aboutTextIn(manager string, view *workload.View) string {
	owned := view.Owned[manager]
	text, _ := tree.MapAt(owned.Tree, "spec", "template", "metadata", "annotations")[meta.AnnotationAbout(manager)].(string)
	return text
}

// isApplied reports whether a workload already has exactly the desired sidecar.
func (d *Desired) isApplied(manager string, desiredBody *applyBody, view *workload.View) bool {
	owned := view.Owned[manager]
	return owned.Hash == desiredBody.hash && len(owned.Leftovers) == 0 && haveMounts(d.overlay.Mounts, view.OwnedMounts(manager))
}

// haveMounts reports whether the sidecar's live mounts in the application's containers are equal to the desired mounts.
func haveMounts(desired, live []workload.Mount) bool {
	return len(desired) == len(live) && !slices.ContainsFunc(desired, func(mount workload.Mount) bool {
		return !slices.ContainsFunc(live, func(liveMount workload.Mount) bool { return equality.Semantic.DeepEqual(liveMount, mount) })
	})
}
