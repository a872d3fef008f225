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

// Omit returns a copy of the overlay without the pod annotations of some keys and without some pull secrets. It also
// removes them from the annotation that lists injected items.
func (o *Overlay) Omit(keys, secrets []string) (*Overlay, error) {
	body := runtime.DeepCopyJSON(o.Body)
	reduced := *o
	reduced.Template = *o.Template.DeepCopy()
	isOut := func(key string) bool { return slices.Contains(keys, key) }
	reduced.OptionalAnnotations = slices.DeleteFunc(slices.Clone(o.OptionalAnnotations), isOut)
	reduced.OptionalWithNodeVolumes = slices.DeleteFunc(slices.Clone(o.OptionalWithNodeVolumes), isOut)
	annotations := tree.MapAt(body, "metadata", "annotations")
	for _, key := range keys {
		delete(reduced.Template.Annotations, key)
		delete(annotations, key)
	}
	reduced.AddedPullSecrets = slices.DeleteFunc(slices.Clone(o.AddedPullSecrets), func(name string) bool { return slices.Contains(secrets, name) })
	removePullSecrets(&reduced.Template.Spec, tree.MapAt(body, "spec"), secrets)
	for _, items := range readInjectedItems(reduced.Template.Annotations) {
		items.Annotations = slices.DeleteFunc(items.Annotations, isOut)
		items.PullSecrets = slices.DeleteFunc(items.PullSecrets, func(name string) bool { return slices.Contains(secrets, name) })
		key := meta.AnnotationInjectedItems(items.Manager)
		reduced.Template.Annotations[key], annotations[key] = items.String(), items.String()
	}
	// The type of the rendering determines the order of the fields, on which the hash depends.
	rendered := &corev1ac.PodTemplateSpecApplyConfiguration{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(body, rendered); err != nil {
		return nil, fmt.Errorf("removing existing annotations and pull secrets from the overlay: %w", err)
	}
	updated, err := reduced.WithBody(rendered)
	if err != nil {
		return nil, fmt.Errorf("removing existing annotations and pull secrets from the overlay: %w", err)
	}
	if body, ok := tree.Share(updated.Body, o.Body).(map[string]any); ok { // Both are stored with the rendering.
		updated.Body = body
	}
	return &updated, nil
}

// removePullSecrets removes pull secrets from a pod spec, and from the JSON form of the same pod spec.
func removePullSecrets(spec *corev1.PodSpec, body map[string]any, names []string) {
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
