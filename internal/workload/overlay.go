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

// FirstNative is the first version of Kubernetes in which API servers and kubelets support native sidecars.
// Older versions run a native sidecar as an init container that never ends.
const FirstNative = "1.29.0"

// Overlay contains the fields that the operator merges into a workload's pod template.
type Overlay struct {
	// Template is the overlay as a typed object. The operator uses it for decisions.
	Template corev1.PodTemplateSpec
	// Body is the overlay that the operator applies. It contains only the fields that the templates rendered,
	// so that the operator does not own other fields. Its values have the API server's canonical form, such as
	// "500m" for 0.5. Callers must not change Body.
	Body map[string]any
	// Mounts are the mounts to add to the application's containers. Templates render them as containers with
	// only volumeMounts. They are not in Template and Body, because a manager that applies a mount also owns
	// the container. The application owner could then not rename the container.
	Mounts []Mount
	// AddedPullSecrets are the names of the pull secrets that pods have only because of the overlay.
	AddedPullSecrets []string
	// OptionalAnnotations are the keys of pod annotations that the overlay leaves out if another field manager
	// already sets them.
	OptionalAnnotations []string
	// OptionalWithNodeVolumes are the keys in OptionalAnnotations that the overlay also leaves out if a volume
	// of the workload prevents the removal of its node.
	OptionalWithNodeVolumes []string
	// EnvInjections are the environment variables to inject into application containers. They are not in
	// Template and Body, because a field manager that applies a variable owns it. The application owner could
	// then not set the variable. Only the API server injects the variables, when the application owner writes
	// the workload.
	EnvInjections []EnvInjection
	// Warning is a warning about the sidecar for users, or "" for none.
	Warning string
	// Hash is a short digest of Body and Mounts.
	Hash string
}

// WithBody returns a copy of the overlay with another body and its hash. It converts the body to JSON types.
func (o *Overlay) WithBody(body any) (Overlay, error) {
	canonical, err := json.Marshal(body)
	if err != nil {
		return Overlay{}, fmt.Errorf("encoding the overlay: %w", err)
	}
	updated := *o
	updated.Body = nil
	if err := json.Unmarshal(canonical, &updated.Body); err != nil {
		return Overlay{}, fmt.Errorf("decoding the encoded overlay: %w", err)
	}
	err = updated.setHash(canonical)
	return updated, err
}

// setHash sets Hash from the body as JSON and Mounts.
func (o *Overlay) setHash(canonical []byte) error {
	if len(o.Mounts) > 0 {
		mounts, err := json.Marshal(o.Mounts)
		if err != nil {
			return fmt.Errorf("encoding the mounts of the overlay: %w", err)
		}
		canonical = append(canonical, mounts...)
	}
	o.Hash = meta.Digest(canonical, 8)
	return nil
}

// Container returns the overlay's container with a name, or nil for none.
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

// containers yields pointers to the overlay's containers, init containers first.
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
