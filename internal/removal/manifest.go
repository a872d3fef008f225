// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package removal

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Merger makes of a workload and a plan for it what the API server would.
type Merger interface {
	Deployment(before *appsv1.Deployment, p *plan.Plan) (*unstructured.Unstructured, error)
}

// Strip returns a workload without its sidecars, and whether it had any. What is
// the operator's is told by the API server's records of ownership where the
// workload has them, and else by the pod template's own list of what was added.
func Strip(merger Merger, deployment *appsv1.Deployment) (*appsv1.Deployment, bool, error) {
	managers := workload.Managers(deployment)
	for _, manager := range managers {
		view := workload.Of(deployment)
		removal := plan.ForRemoval(manager, &view)
		switch removal.Action {
		case plan.None:
			continue
		case plan.Remove:
		default:
			return nil, false, fmt.Errorf("taking out what is %s's: %s: %s", manager, removal.Reason, removal.Message)
		}
		after, err := merger.Deployment(deployment, &removal)
		if err != nil {
			return nil, false, fmt.Errorf("taking out what is %s's: %w", manager, err)
		}
		deployment = &appsv1.Deployment{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(after.Object, deployment); err != nil {
			return nil, false, fmt.Errorf("taking out what is %s's: %w", manager, err)
		}
	}
	if len(managers) == 0 {
		return deployment, false, nil
	}
	deployment = deployment.DeepCopy()
	deployment.Annotations = withoutOurs(deployment.Annotations)
	deployment.Spec.Template.Annotations = withoutOurs(deployment.Spec.Template.Annotations)
	return deployment, true, nil
}

// withoutOurs keeps the annotations by which a team opts out or gives values: they
// are theirs.
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
