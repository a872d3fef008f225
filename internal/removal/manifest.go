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
	Workload(before workload.Object, p *plan.Plan) (*unstructured.Unstructured, error)
}

// Strip returns a workload without its sidecars, and whether it had any. What belongs to the
// operator is determined by managedFields if one of its managers is in them, and otherwise by
// the pod template's own list of what was added.
func Strip(merger Merger, object workload.Object) (workload.Object, bool, error) {
	if !workload.IsCarrier(object) {
		return object, false, nil
	}
	// What our managers give up may be in the owner's manifest as well: then the list alone
	// is left of it.
	for range 2 {
		for _, manager := range workload.Managers(object) {
			after, err := without(merger, object, manager)
			if err != nil {
				return nil, false, fmt.Errorf("removing what %s owns: %w", manager, err)
			}
			object = after
		}
	}
	stripped, _ := workload.As(object.DeepCopyObject())
	stripped.SetAnnotations(withoutOurs(stripped.GetAnnotations()))
	workload.SetTemplateAnnotations(stripped, withoutOurs(workload.TemplateOf(stripped).Annotations))
	return stripped, true, nil
}

// without returns a workload without what one manager has in it.
func without(merger Merger, object workload.Object, manager string) (workload.Object, error) {
	view := viewOf(object)
	removal := plan.ForRemoval(manager, &view)
	switch removal.Action {
	case plan.None:
		return object, nil
	case plan.Remove, plan.RecordOnly:
	default:
		return nil, fmt.Errorf("%s: %s", removal.Reason, removal.Message)
	}
	after, err := merger.Workload(object, &removal)
	if err != nil {
		return nil, err
	}
	object = view.Adapter().New()
	return object, runtime.DefaultUnstructuredConverter.FromUnstructured(after.Object, object)
}

// isOurs reports whether an annotation is the operator's. Those with which a team opts out or
// sets values are the team's.
func isOurs(key string) bool {
	return strings.HasPrefix(key, meta.Group+"/") && key != meta.AnnotationInject
}

// withoutOurs removes the operator's annotations.
func withoutOurs(annotations map[string]string) map[string]string {
	kept := map[string]string{}
	for key, value := range annotations {
		if !isOurs(key) {
			kept[key] = value
		}
	}
	if len(kept) == 0 {
		return nil
	}
	return kept
}
