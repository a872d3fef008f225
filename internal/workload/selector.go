// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
)

// Selector selects the workloads of a VectorSidecar by namespace, kind and labels. The zero value does not
// select any workload.
type Selector struct {
	// Labels is the label selector without the namespace and the kinds.
	Labels    labels.Selector
	namespace string
	kinds     []v1alpha1.WorkloadKind
}

// NewSelector returns the selector of a VectorSidecar from spec.selector and spec.workloads. It returns an
// error if spec.selector is invalid.
func NewSelector(sidecar *v1alpha1.VectorSidecar) (Selector, error) {
	selector, err := metav1.LabelSelectorAsSelector(&sidecar.Spec.Selector)
	if err != nil {
		return Selector{}, err
	}
	return Selector{Labels: selector, namespace: sidecar.Namespace, kinds: sidecar.Spec.Kinds()}, nil
}

// Selects reports whether the selector selects a workload with a namespace, kind and labels. It does not
// allocate.
func (s Selector) Selects(namespace, kind string, labelSet labels.Labels) bool {
	return s.namespace == namespace && s.MatchesLabels(labelSet) && s.ListsKind(kind)
}

// ListsKind reports whether spec.workloads lists a kind, or has it by default.
func (s Selector) ListsKind(kind string) bool {
	return slices.Contains(s.kinds, v1alpha1.WorkloadKind(kind))
}

// MatchesLabels reports whether labels match the label selector. It ignores namespace and kind.
func (s Selector) MatchesLabels(labelSet labels.Labels) bool {
	return s.Labels != nil && s.Labels.Matches(labelSet)
}

// String returns a text that identifies the label selector and the kinds.
func (s Selector) String() string {
	text := []byte(s.Labels.String())
	for _, kind := range s.kinds {
		text = append(append(text, ' '), kind...)
	}
	return string(text)
}
