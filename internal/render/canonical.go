// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// ownedDefaults are defaults that the API server adds inside values that a single field manager owns, so that they look as
// if this field manager had applied them. The list does not contain the defaults that digests of a workload leave out.
var ownedDefaults = map[string]struct {
	field string
	value any
}{
	"resourceFieldRef": {"divisor", "0"},
	"fileKeyRef":       {"optional", false},
	"podCertificate":   {"maxExpirationSeconds", int64(86400)},
}

// canonicalBody returns the body of an overlay as it is read back from a workload. It has no explicit zero values,
// because the API server drops them, it has ownedDefaults, and its resources are rounded. Otherwise the workload
// would never match the desired state. A body without such values is unchanged, and so is its hash.
func canonicalBody(body *corev1ac.PodTemplateSpecApplyConfiguration, template *corev1.PodTemplateSpec) (*corev1ac.PodTemplateSpecApplyConfiguration, error) {
	written, err := runtime.DefaultUnstructuredConverter.ToUnstructured(body)
	if err != nil {
		return nil, fmt.Errorf("writing the overlay: %w", err)
	}
	typed, err := runtime.DefaultUnstructuredConverter.ToUnstructured(template)
	if err != nil {
		return nil, fmt.Errorf("writing the pod template: %w", err)
	}
	result := &corev1ac.PodTemplateSpecApplyConfiguration{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(tree.Map(canonicalValue("", written, typed)), result); err != nil {
		return nil, fmt.Errorf("decoding the encoded overlay: %w", err)
	}
	return result, nil
}

// canonicalValue returns a value of a body as the API server stores it. The second value is the same value of the typed
// object. Lists of both have the same items in the same order.
func canonicalValue(key string, written, typedValue any) any {
	switch value := written.(type) {
	case map[string]any:
		typed, result := tree.Map(typedValue), map[string]any{}
		for name, item := range value {
			if typedItem, isKept := typed[name]; isKept {
				result[name] = canonicalValue(name, item, typedItem)
			}
			if text, isText := item.(string); isText && (key == "limits" || key == "requests") {
				result[name] = roundQuantity(text)
			}
		}
		added, hasDefault := ownedDefaults[key]
		if _, isSet := result[added.field]; hasDefault && !isSet {
			result[added.field] = added.value
		}
		return result
	case []any:
		typed, result := tree.List(typedValue), make([]any, len(value))
		for i := range value {
			result[i] = canonicalValue("", value[i], typed[i])
		}
		return result
	}
	return written
}

// roundQuantity returns a quantity of a resource, rounded up to thousandths. A text that is not a quantity is unchanged.
func roundQuantity(text string) string {
	quantity, err := resource.ParseQuantity(text)
	if err != nil || quantity.RoundUp(resource.Milli) {
		return text
	}
	return quantity.String()
}
