// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package offline merges an overlay into a workload as the API server would, with
// its own merge code and without a server. It does not decide what to merge.
package offline

import (
	"fmt"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
)

// Merger merges. Make one with New; it holds the schemas of Kubernetes' types,
// which take some memory and time to load.
type Merger struct{ converter managedfields.TypeConverter }

// New returns a Merger.
func New() *Merger {
	return &Merger{converter: applyconfigurations.NewTypeConverter(scheme.Scheme)}
}

// Deployment returns a Deployment with what a plan applies, plan.Plan.Apply,
// merged in. The arguments are not changed.
func (m *Merger) Deployment(deployment *appsv1.Deployment, apply map[string]any) (*unstructured.Unstructured, error) {
	gvk := appsv1.SchemeGroupVersion.WithKind("Deployment")
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(deployment)
	if err != nil {
		return nil, fmt.Errorf("converting the workload: %w", err)
	}
	live := &unstructured.Unstructured{Object: content}
	live.SetGroupVersionKind(gvk)
	body := &unstructured.Unstructured{Object: maps.Clone(apply)}
	body.SetGroupVersionKind(gvk)

	left, err := m.converter.ObjectToTyped(live)
	if err != nil {
		return nil, fmt.Errorf("reading the workload: %w", err)
	}
	right, err := m.converter.ObjectToTyped(body)
	if err != nil {
		return nil, fmt.Errorf("reading what is applied: %w", err)
	}
	merged, err := left.Merge(right)
	if err != nil {
		return nil, fmt.Errorf("merging: %w", err)
	}
	object, ok := merged.AsValue().Unstructured().(map[string]any)
	if !ok {
		return nil, fmt.Errorf("merging gave a %T", merged.AsValue().Unstructured())
	}
	return &unstructured.Unstructured{Object: object}, nil
}
