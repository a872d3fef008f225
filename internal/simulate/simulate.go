// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package simulate predicts the result of plans without a server. It merges a plan into one workload with the API
// server's own merge code, and assigns all plans to the batches in which the operator would carry them out. It also
// forecasts the effect of new pods on quotas, limits and autoscalers. It does not decide what to merge.
package simulate

import (
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"

	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Merger merges plans into workloads. Create one with New. It holds the schemas of Kubernetes types, which take some
// memory and time to load.
type Merger struct {
	fields map[string]*managedfields.FieldManager // by kind
}

// New returns a Merger.
func New() (*Merger, error) {
	merger := &Merger{fields: map[string]*managedfields.FieldManager{}}
	types := applyconfigurations.NewTypeConverter(scheme.Scheme)
	for _, kind := range workload.Kinds() {
		types := types
		if kind.Traits.AtomicLists {
			types = managedfields.NewDeducedTypeConverter()
		}
		fields, err := managedfields.NewDefaultFieldManager(
			types, oneVersion{}, oneVersion{}, oneVersion{}, kind.GroupVersionKind, kind.GroupVersion(), "", nil)
		if err != nil {
			return nil, fmt.Errorf("loading the schemas of Kubernetes' types: %w", err)
		}
		merger.fields[kind.Kind] = fields
	}
	return merger, nil
}

// beforeUs is the API server's name for the field manager of a workload without managed fields.
const beforeUs = "before-first-apply"

// kindMerger merges plans into workloads of one kind.
type kindMerger struct {
	kind   *workload.Kind
	fields *managedfields.FieldManager
}

// Workload returns a workload after a plan that writes. The result has the fields that the plan applies. It lacks the
// fields that only the manager of the plan owned before, and that the plan no longer applies. The workload may come
// from a cluster or a manifest. The arguments are not changed.
func (m *Merger) Workload(object workload.Object, p *plan.Plan) (*unstructured.Unstructured, error) {
	ref := workload.NewRef(object)
	operation := &kindMerger{ref.Adapter(), m.fields[ref.Kind]}
	return operation.mergeWorkload(object, p)
}

// mergeWorkload returns the workload after a plan: first its patch, then its apply, and then the trimming of managed
// fields.
func (m *kindMerger) mergeWorkload(object workload.Object, p *plan.Plan) (*unstructured.Unstructured, error) {
	live, err := m.toUnstructured(object)
	if err != nil {
		return nil, fmt.Errorf("converting the workload: %w", err)
	}
	var merged runtime.Object = live
	if len(live.GetManagedFields()) == 0 {
		if merged, err = m.recordLive(live); err != nil {
			return nil, err
		}
	}
	if p.Write.Patch != nil {
		if merged, err = m.patchPlan(merged, p); err != nil {
			return nil, err
		}
	}
	if content := p.Body(); content != nil {
		if merged, err = m.applyPlan(merged, content, p); err != nil {
			return nil, err
		}
	}
	result, ok := merged.(*unstructured.Unstructured)
	if !ok {
		return nil, fmt.Errorf("merging the sidecar into the workload: unexpected result of type %T", merged)
	}
	trimEntries(result, p)
	return result, nil
}

// trimEntries trims the managed fields, as the operator does in its last step.
func trimEntries(object *unstructured.Unstructured, p *plan.Plan) {
	var entries []metav1.ManagedFieldsEntry
	for _, entry := range object.GetManagedFields() {
		if fields, isLess := p.Trim(&entry); isLess {
			entry.FieldsV1 = fields
		}
		if entry.FieldsV1 != nil {
			entries = append(entries, entry)
		}
	}
	object.SetManagedFields(entries)
}

// recordLive returns a workload from a manifest with the managed fields that it would have on a server. Without them,
// only the fields of the operator's patch would have an owner. The application's items would then be removed together
// with the operator's items.
func (m *kindMerger) recordLive(live *unstructured.Unstructured) (runtime.Object, error) {
	nothing := &unstructured.Unstructured{}
	nothing.SetGroupVersionKind(m.kind.GroupVersionKind)
	recorded, err := m.fields.Update(nothing, live, beforeUs)
	if err != nil {
		return nil, fmt.Errorf("recording the managed fields: %w", err)
	}
	return recorded, nil
}

// applyPlan applies a body, and repeats it with force if the operator would.
func (m *kindMerger) applyPlan(live runtime.Object, content map[string]any, p *plan.Plan) (runtime.Object, error) {
	body := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(m.kind.MoveTemplate(content))}
	body.SetGroupVersionKind(m.kind.GroupVersionKind)
	body.SetName(p.Target.Name)
	merged, err := m.fields.Apply(live, body, p.Manager, false)
	if p.NeedsForce(err) {
		merged, err = m.fields.Apply(live, body, p.Manager, true)
	}
	if err != nil {
		return nil, fmt.Errorf("merging the sidecar into the workload: %w", err)
	}
	return merged, nil
}

// patchPlan applies the patch of a plan, and records it as an update.
func (m *kindMerger) patchPlan(live runtime.Object, p *plan.Plan) (runtime.Object, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(live.DeepCopyObject()) // Patching changes it.
	if err != nil {
		return nil, fmt.Errorf("converting the workload: %w", err)
	}
	patched, err := p.ApplyPatch(content)
	if err != nil {
		return nil, err
	}
	written := &unstructured.Unstructured{Object: patched}
	recorded, err := m.fields.Update(live, written, p.Manager)
	if err != nil {
		return nil, fmt.Errorf("recording the fields of the patch: %w", err)
	}
	return recorded, nil
}

// toUnstructured returns a copy of a workload as an unstructured object with its kind.
func (m *kindMerger) toUnstructured(workloadObject workload.Object) (*unstructured.Unstructured, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(workloadObject)
	if err != nil {
		return nil, err
	}
	object := &unstructured.Unstructured{Object: content}
	object.SetGroupVersionKind(m.kind.GroupVersionKind)
	return object, nil
}

// oneVersion implements the interfaces of the merge code for objects that have their storage version and no defaults.
type oneVersion struct{}

// New returns an empty object of a kind.
func (oneVersion) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	return object, nil
}

// Default does nothing. It implements runtime.ObjectDefaulter.
func (oneVersion) Default(runtime.Object) {}

func (oneVersion) Convert(_, _, _ any) error { return errors.ErrUnsupported }

// ConvertToVersion returns the object unchanged, because objects have only one version here. It implements
// runtime.ObjectConvertor.
func (oneVersion) ConvertToVersion(object runtime.Object, _ runtime.GroupVersioner) (runtime.Object, error) {
	return object, nil
}

func (oneVersion) ConvertFieldLabel(schema.GroupVersionKind, string, string) (label, value string, err error) {
	return "", "", errors.ErrUnsupported
}
