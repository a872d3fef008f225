// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package removal

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Merger merges a plan into a workload as the API server would.
type Merger interface {
	Workload(object workload.Object, p *plan.Plan) (*unstructured.Unstructured, error)
}

// Strip returns a workload without its sidecars, and whether it had any. If managedFields contain one of the
// operator's managers, they determine the fields of the sidecar. Otherwise the list in the pod template
// determines them.
func Strip(merger Merger, object workload.Object) (workload.Object, bool, error) {
	if !workload.IsCarrier(object) {
		return object, false, nil
	}
	// The manifest of the application owner may also contain fields that the operator's managers release. After
	// the first removal, only the list in the pod template names these fields.
	for range 2 {
		for _, manager := range workload.Managers(object) {
			remaining, err := stripManager(merger, object, manager)
			if err != nil {
				return nil, false, fmt.Errorf("removing the fields of %s: %w", manager, err)
			}
			object = remaining
		}
	}
	stripped, _ := workload.ToObject(object.DeepCopyObject())
	stripped.SetAnnotations(withoutOperatorKeys(stripped.GetAnnotations()))
	workload.SetTemplateAnnotations(stripped, withoutOperatorKeys(workload.PodTemplate(stripped).Annotations))
	return stripped, true, nil
}

// stripManager returns a workload without the fields of one manager.
func stripManager(merger Merger, object workload.Object, manager string) (workload.Object, error) {
	view := newView(object)
	removal, err := planRemoval(&view, manager)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", removal.Reason(), err)
	case !removal.Writes():
		return object, nil
	}
	merged, err := merger.Workload(object, &removal)
	if err != nil {
		return nil, err
	}
	object = view.Adapter().New()
	return object, runtime.DefaultUnstructuredConverter.FromUnstructured(merged.Object, object)
}

// isOperatorKey reports whether an annotation belongs to the operator. Annotations for opting out and for setting
// values belong to the application team.
func isOperatorKey(key string) bool {
	return strings.HasPrefix(key, meta.Group+"/") && key != meta.AnnotationInject
}

// withoutOperatorKeys removes the operator's annotations.
func withoutOperatorKeys(annotations map[string]string) map[string]string {
	remaining := map[string]string{}
	for key, value := range annotations {
		if !isOperatorKey(key) {
			remaining[key] = value
		}
	}
	if len(remaining) == 0 {
		return nil
	}
	return remaining
}
