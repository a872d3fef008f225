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
// operator is determined by managedFields if the workload has them, and otherwise by the pod
// template's own list of what was added.
func Strip(merger Merger, object workload.Object) (workload.Object, bool, error) {
	managers := workload.Managers(object)
	for _, manager := range managers {
		view := workload.Of(object)
		removal := plan.ForRemoval(manager, &view)
		switch removal.Action {
		case plan.None:
			continue
		case plan.Remove:
		default:
			return nil, false, fmt.Errorf("removing what %s owns: %s: %s", manager, removal.Reason, removal.Message)
		}
		after, err := merger.Workload(object, &removal)
		if err != nil {
			return nil, false, fmt.Errorf("removing what %s owns: %w", manager, err)
		}
		object = view.Adapter().New()
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(after.Object, object); err != nil {
			return nil, false, fmt.Errorf("removing what %s owns: %w", manager, err)
		}
	}
	if len(managers) == 0 {
		return object, false, nil
	}
	stripped, _ := workload.As(object.DeepCopyObject())
	stripped.SetAnnotations(withoutOurs(stripped.GetAnnotations()))
	template := workload.TemplateOf(stripped)
	template.Annotations = withoutOurs(template.Annotations)
	return stripped, true, nil
}

// withoutOurs removes the operator's annotations. It keeps those with which a team opts out
// or sets values.
func withoutOurs(annotations map[string]string) map[string]string {
	kept := map[string]string{}
	for key, value := range annotations {
		if !strings.HasPrefix(key, meta.Group+"/") || key == meta.AnnotationInject {
			kept[key] = value
		}
	}
	if len(kept) == 0 {
		return nil
	}
	return kept
}
