// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// ownedDefaults are defaults that the API server adds inside values with one owner, so that they look as
// if they had been applied. Those that digests of a workload leave out are not among them.
var ownedDefaults = map[string]struct {
	field string
	value any
}{
	"resourceFieldRef": {"divisor", "0"},
	"fileKeyRef":       {"optional", false},
	"podCertificate":   {"maxExpirationSeconds", int64(86400)},
}

// canonical returns the body of an overlay as it is read back from a workload: without zero values that
// were written out, which the API server drops, and with ownedDefaults. If it were applied otherwise, the
// workload would never carry what is desired. A body that had neither stays as it is, and so does its hash.
func canonical(body *corev1ac.PodTemplateSpecApplyConfiguration, template *corev1.PodTemplateSpec) (*corev1ac.PodTemplateSpecApplyConfiguration, error) {
	written, err := runtime.DefaultUnstructuredConverter.ToUnstructured(body)
	if err != nil {
		return nil, fmt.Errorf("writing the overlay: %w", err)
	}
	kept, err := runtime.DefaultUnstructuredConverter.ToUnstructured(template)
	if err != nil {
		return nil, fmt.Errorf("writing the pod template: %w", err)
	}
	made := &corev1ac.PodTemplateSpecApplyConfiguration{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(tree.Map(asKept("", written, kept)), made); err != nil {
		return nil, fmt.Errorf("reading the overlay back: %w", err)
	}
	return made, nil
}

// asKept returns a value of a body as the API server keeps it, given the same of the typed object: of both
// lists have the same items in the same order.
func asKept(key string, written, kept any) any {
	switch value := written.(type) {
	case map[string]any:
		typed, all := tree.Map(kept), map[string]any{}
		for name, item := range value {
			if is, isKept := typed[name]; isKept {
				all[name] = asKept(name, item, is)
			}
		}
		added, hasDefault := ownedDefaults[key]
		if _, isGiven := all[added.field]; hasDefault && !isGiven {
			all[added.field] = added.value
		}
		return all
	case []any:
		typed, all := tree.List(kept), make([]any, len(value))
		for i := range value {
			all[i] = asKept("", value[i], typed[i])
		}
		return all
	}
	return written
}
