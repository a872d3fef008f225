// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// FirstNative is the first version of Kubernetes with native sidecars, of API servers and of
// kubelets. Older ones run them as init containers, which never end.
const FirstNative = "1.29.0"

// Overlay is what is merged into a workload's pod template.
type Overlay struct {
	// Template is the overlay as a typed object, for decisions.
	Template corev1.PodTemplateSpec
	// Body is the overlay as it is applied: only what the templates rendered, in the
	// API server's canonical form ("500m" for 0.5), so that we own nothing else. It
	// must not be changed.
	Body map[string]any
	// Mounts are to be added to the application's containers. Templates render them as
	// containers with nothing but volumeMounts. They are not in Template and Body:
	// applying a mount would make us an owner of the container, and its real owner
	// could not rename it.
	Mounts []Mount
	// Brings are the names of pull secrets that pods would not have from their ServiceAccount.
	Brings []string
	// Yields are the keys of pod annotations that are left to whoever has them.
	Yields []string
	// YieldsToVolumes are those of Yields that are left out where the workload keeps its node by
	// itself.
	YieldsToVolumes []string
	// Tells are variables by which the application is told of the sidecar. They are not in Template
	// and Body: only the API server adds them, when the owner writes the workload, because who applies
	// a variable owns it, and its real owner could not set it.
	Tells []Tell
	// Warning is a warning about the sidecar for people, or "".
	Warning string
	// Hash is a short digest of everything but what yields, what is told and the warning.
	Hash string
}

// With returns the overlay with another body, converted to JSON types, and its hash.
func (o *Overlay) With(body any) (Overlay, error) {
	canonical, err := json.Marshal(body)
	if err != nil {
		return Overlay{}, fmt.Errorf("writing the overlay: %w", err)
	}
	with := *o
	with.Body = nil
	if err := json.Unmarshal(canonical, &with.Body); err != nil {
		return Overlay{}, fmt.Errorf("reading the overlay back: %w", err)
	}
	err = with.seal(canonical)
	return with, err
}

// seal sets the hash; canonical is the body as JSON.
func (o *Overlay) seal(canonical []byte) error {
	if len(o.Mounts) > 0 {
		mounts, err := json.Marshal(o.Mounts)
		if err != nil {
			return fmt.Errorf("writing the mounts: %w", err)
		}
		canonical = append(canonical, mounts...)
	}
	o.Hash = meta.Digest(canonical, 8)
	return nil
}

// Container returns the container of a name, or nil.
func (o *Overlay) Container(name string) *corev1.Container {
	for container := range o.containers() {
		if container.Name == name {
			return container
		}
	}
	return nil
}

// HasNative reports whether one of the overlay's containers is a native sidecar.
func (o *Overlay) HasNative() bool {
	return slices.ContainsFunc(o.Template.Spec.InitContainers, func(c corev1.Container) bool { return c.RestartPolicy != nil })
}

// containers yields the overlay's containers, not copies, init containers first.
func (o *Overlay) containers() iter.Seq[*corev1.Container] {
	return func(yield func(*corev1.Container) bool) {
		for _, list := range [][]corev1.Container{o.Template.Spec.InitContainers, o.Template.Spec.Containers} {
			for i := range list {
				if !yield(&list[i]) {
					return
				}
			}
		}
	}
}
