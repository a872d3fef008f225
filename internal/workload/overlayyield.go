// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// Without returns a copy of the overlay without some pod annotations and pull secrets. Its list of items does
// not name them either.
func (o *Overlay) Without(keys, secrets []string) (*Overlay, error) {
	body := runtime.DeepCopyJSON(o.Body)
	left := *o
	left.Template = *o.Template.DeepCopy()
	isOut := func(key string) bool { return slices.Contains(keys, key) }
	left.Yields = slices.DeleteFunc(slices.Clone(o.Yields), isOut)
	left.YieldsToVolumes = slices.DeleteFunc(slices.Clone(o.YieldsToVolumes), isOut)
	annotations := tree.MapAt(body, "metadata", "annotations")
	for _, key := range keys {
		delete(left.Template.Annotations, key)
		delete(annotations, key)
	}
	left.Brings = slices.DeleteFunc(slices.Clone(o.Brings), func(name string) bool { return slices.Contains(secrets, name) })
	withoutPullSecrets(&left.Template.Spec, tree.MapAt(body, "spec"), secrets)
	for _, parts := range partsIn(left.Template.Annotations) {
		parts.Annotations = slices.DeleteFunc(parts.Annotations, isOut)
		parts.PullSecrets = slices.DeleteFunc(parts.PullSecrets, func(name string) bool { return slices.Contains(secrets, name) })
		key := meta.AnnotationInjectedItems(parts.Manager)
		left.Template.Annotations[key], annotations[key] = parts.String(), parts.String()
	}
	// The body is converted to the type of the rendering, because the hash depends on the order of the fields.
	rendered := &corev1ac.PodTemplateSpecApplyConfiguration{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(body, rendered); err != nil {
		return nil, fmt.Errorf("leaving out existing annotations and pull secrets: %w", err)
	}
	with, err := left.With(rendered)
	if err != nil {
		return nil, fmt.Errorf("leaving out existing annotations and pull secrets: %w", err)
	}
	if body, ok := tree.Share(with.Body, o.Body).(map[string]any); ok { // Both are stored with the rendering.
		with.Body = body
	}
	return &with, nil
}

// withoutPullSecrets removes names from a pod, and from the same pod as JSON.
func withoutPullSecrets(spec *corev1.PodSpec, body map[string]any, names []string) {
	if len(names) == 0 {
		return
	}
	spec.ImagePullSecrets = slices.DeleteFunc(spec.ImagePullSecrets, func(secret corev1.LocalObjectReference) bool { return slices.Contains(names, secret.Name) })
	body[pullSecrets] = slices.DeleteFunc(tree.List(body[pullSecrets]), func(item any) bool { return slices.Contains(names, tree.Name(item)) })
	if len(spec.ImagePullSecrets) == 0 {
		spec.ImagePullSecrets = nil
		delete(body, pullSecrets)
	}
}
