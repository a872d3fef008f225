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

// FirstNative is the first version of Kubernetes with native sidecars, for API servers and kubelets. Older
// versions run them as init containers that never end.
const FirstNative = "1.29.0"

// Overlay contains the fields to merge into a workload's pod template.
type Overlay struct {
	// Template is the overlay as a typed object, for decisions.
	Template corev1.PodTemplateSpec
	// Body is the overlay to apply. It contains only the fields that the templates rendered, in the API
	// server's canonical form ("500m" for 0.5), so that the operator does not own other fields. It must not be
	// changed.
	Body map[string]any
	// Mounts are the mounts to add to the application's containers. Templates render them as containers with
	// only volumeMounts. They are not in Template and Body: an apply of a mount would make the operator an
	// owner of the container, and then the application owner could not rename it.
	Mounts []Mount
	// AddedPullSecrets are the names of pull secrets that pods do not get from their ServiceAccount.
	AddedPullSecrets []string
	// OptionalAnnotations are the keys of optional pod annotations, which are left out if another field manager has them.
	OptionalAnnotations []string
	// OptionalWithNodeVolumes are the keys of Yields that are also left out if a volume of the workload keeps its node.
	OptionalWithNodeVolumes []string
	// EnvInjections are the environment variables to inject into application containers. They are not in Template and
	// Body. Only the API server adds them when the application owner writes the workload, because a field
	// manager that applies a variable owns it, and then the application owner could not set it.
	EnvInjections []EnvInjection
	// Warning is a warning about the sidecar for users, or "".
	Warning string
	// Hash is a short digest of the overlay except Yields, OptionalWithNodeVolumes, Tells and Warning.
	Hash string
}

// WithBody returns the overlay with another body, converted to JSON types, and its hash.
func (o *Overlay) WithBody(body any) (Overlay, error) {
	canonical, err := json.Marshal(body)
	if err != nil {
		return Overlay{}, fmt.Errorf("writing the overlay: %w", err)
	}
	updated := *o
	updated.Body = nil
	if err := json.Unmarshal(canonical, &updated.Body); err != nil {
		return Overlay{}, fmt.Errorf("reading the overlay back: %w", err)
	}
	err = updated.seal(canonical)
	return updated, err
}

// seal sets the hash from the body as JSON.
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

// containers yields the overlay's containers, init containers first. They are not copies.
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
