// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// This file is about kinds that a CustomResourceDefinition defines.

// errUndefined means that the CustomResourceDefinition of the workload's kind does not have or accept a field.
var errUndefined = errors.New("the definition of its kind does not have it")

// isUndefined reports whether the API server's error means that.
func isUndefined(err error) bool {
	return apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || err != nil && strings.Contains(err.Error(), "field not declared in schema")
}

// templateOf is the pod template as the API server has it: of a kind that a definition defines, also what the types of
// Kubernetes do not know, but for lists and maps that are empty, which the operator does not keep (docs/how-to/workloads/workloads.md).
func templateOf(object workload.Object) string {
	if !workload.KindByName(workload.NewRef(object).Kind).Traits.AtomicLists {
		return text(workload.PodTemplate(object))
	}
	whole, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return err.Error()
	}
	template, _, err := unstructured.NestedMap(whole, "spec", "template")
	if err != nil {
		return err.Error()
	}
	return text(withoutEmpty(template))
}

// withoutEmpty removes the empty lists and maps that sidecars use from a template.
func withoutEmpty(tree map[string]any) map[string]any {
	kept := map[string]any{}
	for key, value := range tree {
		switch below := value.(type) {
		case map[string]any:
			value = withoutEmpty(below)
		case []any:
			items := make([]any, len(below))
			for i, item := range below {
				if items[i] = item; listKeys[key] != "" {
					if one, isMap := item.(map[string]any); isMap {
						items[i] = withoutEmpty(one)
					}
				}
			}
			value = items
		}
		if isOfSidecars := listKeys[key] != "" || slices.Contains([]string{"annotations", "labels", "metadata", "imagePullSecrets"}, key); isOfSidecars && isEmpty(value) {
			continue
		}
		kept[key] = value
	}
	return kept
}

func isEmpty(value any) bool {
	switch value := value.(type) {
	case map[string]any:
		return len(value) == 0
	case []any:
		return len(value) == 0
	}
	return value == nil
}

// withoutUnowned leaves out the volumes that an owner who applies on the server side does not list again where a
// CustomResourceDefinition has one owner for the list: since the sidecar was in it that is nobody (docs/how-to/workloads/workloads.md).
func (c *course) withoutUnowned(template string) string {
	first := &c.workload.Writes[0]
	podSpec, _, _ := unstructured.NestedMap(first.Object, "spec", "template", "spec")
	if !c.workload.Kind.custom || first.Way != ServerSide || podSpec["volumes"] != nil || isRefused(template) {
		return template
	}
	var read map[string]any
	if err := json.Unmarshal([]byte(template), &read); err != nil {
		return err.Error()
	}
	unstructured.RemoveNestedField(read, "spec", "volumes")
	return text(read)
}
