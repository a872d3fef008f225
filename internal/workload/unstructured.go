// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// newUnstructured returns an empty unstructured object of a kind.
func newUnstructured(kind schema.GroupVersionKind) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetGroupVersionKind(kind)
	return object
}

// newUnstructuredList returns an empty unstructured list for objects of a kind.
func newUnstructuredList(kind schema.GroupVersionKind) *unstructured.UnstructuredList {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	return list
}

// isUnstructured reports whether an object is an unstructured object of a kind. It ignores the version.
func isUnstructured(object any, kind schema.GroupVersionKind) bool {
	unstructured, ok := object.(*unstructured.Unstructured)
	return ok && unstructured != nil && unstructured.GroupVersionKind().GroupKind() == kind.GroupKind()
}

// readableFields returns the content of an unstructured object without managedFields, because other functions
// read them.
func readableFields(object Object) map[string]any {
	unstructured, ok := object.(*unstructured.Unstructured)
	if !ok {
		return nil
	}
	fields := maps.Clone(unstructured.Object)
	if metadata := maps.Clone(tree.Map(fields["metadata"])); metadata != nil {
		delete(metadata, "managedFields")
		fields["metadata"] = metadata
	}
	return fields
}

// templateAnnotations returns the annotations of a pod template without decoding the template. They record the
// operator's items even if the template cannot be decoded.
func templateAnnotations(object Object) map[string]string {
	rollout, isUnstructured := object.(*unstructured.Unstructured)
	if !isUnstructured {
		return PodTemplate(object).Annotations
	}
	if tree.MapAt(rollout.Object, "spec", "workloadRef") != nil {
		return nil
	}
	return stringValues(tree.MapAt(rollout.Object, annotationsPath(object)...))
}

// stringValues returns the string values of a map.
func stringValues(fields map[string]any) map[string]string {
	texts := map[string]string{}
	for name, value := range fields {
		if text, isText := value.(string); isText {
			texts[name] = text
		}
	}
	return texts
}

// annotationsPath returns the path of the pod template's annotations in a workload.
func annotationsPath(object Object) []string {
	return slices.Concat(objectKind(object).Template, []string{"metadata", "annotations"})
}

// SetTemplateAnnotations replaces the annotations of a pod template.
func SetTemplateAnnotations(object Object, annotations map[string]string) {
	rollout, isUnstructured := object.(*unstructured.Unstructured)
	if !isUnstructured {
		PodTemplate(object).Annotations = annotations
		return
	}
	path := annotationsPath(object)
	if len(annotations) == 0 {
		unstructured.RemoveNestedField(rollout.Object, path...)
		return
	}
	_ = unstructured.SetNestedStringMap(rollout.Object, annotations, path...) // A path that is not a map has no annotations.
}
