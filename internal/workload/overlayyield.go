// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// WithoutAnnotations returns a copy of the overlay without these pod annotations, which its list of
// parts does not name either.
func (o *Overlay) WithoutAnnotations(keys []string) (*Overlay, error) {
	body := runtime.DeepCopyJSON(o.Body)
	left := *o
	left.Template = *o.Template.DeepCopy()
	isOut := func(key string) bool { return slices.Contains(keys, key) }
	left.Yields = slices.DeleteFunc(slices.Clone(o.Yields), isOut)
	left.YieldsToVolumes = slices.DeleteFunc(slices.Clone(o.YieldsToVolumes), isOut)
	annotations := tree.At(body, "metadata", "annotations")
	for _, key := range keys {
		delete(left.Template.Annotations, key)
		delete(annotations, key)
	}
	for _, parts := range partsIn(left.Template.Annotations) {
		parts.Annotations = slices.DeleteFunc(parts.Annotations, isOut)
		key := meta.AnnotationParts(parts.Manager)
		left.Template.Annotations[key], annotations[key] = parts.String(), parts.String()
	}
	// As it is rendered: the hash goes by the order of the fields.
	rendered := &corev1ac.PodTemplateSpecApplyConfiguration{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(body, rendered); err != nil {
		return nil, fmt.Errorf("leaving pod annotations out: %w", err)
	}
	with, err := left.With(rendered)
	if err != nil {
		return nil, fmt.Errorf("leaving pod annotations out: %w", err)
	}
	return &with, nil
}
