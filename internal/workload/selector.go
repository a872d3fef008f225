// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
)

// Selector selects workloads by namespace, kind and labels for a VectorSidecar. The zero value does not select
// workloads.
type Selector struct {
	// Labels is only the label selector.
	Labels    labels.Selector
	namespace string
	kinds     []v1alpha1.WorkloadKind
}

// NewSelector reads spec.selector and spec.workloads. The error concerns the label selector.
func NewSelector(sidecar *v1alpha1.VectorSidecar) (Selector, error) {
	selector, err := metav1.LabelSelectorAsSelector(&sidecar.Spec.Selector)
	if err != nil {
		return Selector{}, err
	}
	return Selector{Labels: selector, namespace: sidecar.Namespace, kinds: sidecar.Spec.Kinds()}, nil
}

// Selects reports whether a workload is selected. It does not allocate.
func (s Selector) Selects(namespace, kind string, labelSet labels.Labels) bool {
	return s.namespace == namespace && s.Fits(labelSet) && s.Lists(kind)
}

// Lists reports whether spec.workloads lists a kind.
func (s Selector) Lists(kind string) bool {
	return slices.Contains(s.kinds, v1alpha1.WorkloadKind(kind))
}

// Fits reports whether the labels match, for any kind.
func (s Selector) Fits(labelSet labels.Labels) bool {
	return s.Labels != nil && s.Labels.Matches(labelSet)
}

// String returns a text that differs for different selectors.
func (s Selector) String() string {
	text := []byte(s.Labels.String())
	for _, kind := range s.kinds {
		text = append(append(text, ' '), kind...)
	}
	return string(text)
}
