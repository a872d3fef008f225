// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package offline carries out a plan on a workload as the API server would, with
// its own merge code and without a server. It does not decide what to merge.
package offline

import (
	"errors"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"

	"kontroloop.ai/vector-sidecar-operator/internal/plan"
)

// Merger merges. Make one with New; it holds the schemas of Kubernetes' types,
// which take some memory and time to load.
type Merger struct{ fields *managedfields.FieldManager }

// New returns a Merger.
func New() (*Merger, error) {
	kind := appsv1.SchemeGroupVersion.WithKind("Deployment")
	fields, err := managedfields.NewDefaultFieldManager(
		applyconfigurations.NewTypeConverter(scheme.Scheme), oneVersion{}, oneVersion{}, oneVersion{},
		kind, kind.GroupVersion(), "", nil)
	if err != nil {
		return nil, fmt.Errorf("loading the schemas of Kubernetes' types: %w", err)
	}
	return &Merger{fields: fields}, nil
}

// Deployment returns a Deployment as it is after a plan that writes: with what the
// plan applies, and without what its manager owned before and does not any more.
// The arguments are not changed.
func (m *Merger) Deployment(deployment *appsv1.Deployment, p *plan.Plan) (*unstructured.Unstructured, error) {
	gvk := appsv1.SchemeGroupVersion.WithKind("Deployment")
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(deployment)
	if err != nil {
		return nil, fmt.Errorf("converting the workload: %w", err)
	}
	live := &unstructured.Unstructured{Object: content}
	live.SetGroupVersionKind(gvk)
	var merged runtime.Object = live
	if p.Patch != nil {
		if merged, err = m.patch(live, p); err != nil {
			return nil, err
		}
	}
	for _, content := range p.Bodies() {
		body := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(content)}
		body.SetGroupVersionKind(gvk)
		body.SetName(deployment.Name)
		if merged, err = m.fields.Apply(merged, body, p.Manager, false); err != nil {
			return nil, fmt.Errorf("merging: %w", err)
		}
	}
	object, ok := merged.(*unstructured.Unstructured)
	if !ok {
		return nil, fmt.Errorf("merging gave a %T", merged)
	}
	if p.Disown {
		object.SetManagedFields(slices.DeleteFunc(object.GetManagedFields(), func(entry metav1.ManagedFieldsEntry) bool { return entry.Manager == p.Manager }))
	}
	return object, nil
}

// patch carries out the patch of a plan, and records it as an update.
func (m *Merger) patch(live *unstructured.Unstructured, p *plan.Plan) (runtime.Object, error) {
	patched, err := strategicpatch.StrategicMergeMapPatch(runtime.DeepCopyJSON(live.Object), runtime.DeepCopyJSON(p.Patch), &appsv1.Deployment{})
	if err != nil {
		return nil, fmt.Errorf("patching: %w", err)
	}
	// As a type and back, which drops lists that the patch has emptied.
	var typed appsv1.Deployment
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(patched, &typed); err != nil {
		return nil, fmt.Errorf("reading what was patched: %w", err)
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&typed)
	if err != nil {
		return nil, fmt.Errorf("converting what was patched: %w", err)
	}
	recorded, err := m.fields.Update(live, &unstructured.Unstructured{Object: content}, p.Manager)
	if err != nil {
		return nil, fmt.Errorf("recording the patch: %w", err)
	}
	return recorded, nil
}

// oneVersion tells the merge code that objects are in the version that they are
// stored in, and have no defaults.
type oneVersion struct{}

func (oneVersion) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	return object, nil
}

func (oneVersion) Default(runtime.Object) {}

func (oneVersion) Convert(_, _, _ any) error { return errors.ErrUnsupported }

func (oneVersion) ConvertToVersion(object runtime.Object, _ runtime.GroupVersioner) (runtime.Object, error) {
	return object, nil
}

func (oneVersion) ConvertFieldLabel(schema.GroupVersionKind, string, string) (label, value string, err error) {
	return "", "", errors.ErrUnsupported
}
