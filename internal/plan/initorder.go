// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// initOrder returns the names of the workload's other init containers that must be before and after the overlay's
// native sidecars. Both lists are nil if the order does not need to change. It needs to change if an init container of
// the application precedes a native sidecar, or would precede it because an apply appends new init containers
// (TestApply_OrdersInitContainersByAppliedList in test/envtest). A native sidecar cannot collect the logs of containers
// that run before it. Sidecars of other VectorSidecars keep their positions.
func initOrder(manager string, desired *Desired, view *workload.View) (initBefore, initAfter []string) {
	var native []string
	for i := range desired.overlay.Template.Spec.InitContainers {
		c := &desired.overlay.Template.Spec.InitContainers[i]
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			native = append(native, c.Name)
		}
	}
	if len(native) == 0 {
		return nil, nil
	}
	nativeCount, misplaced := 0, false
	for _, c := range view.Containers {
		if !c.Init {
			continue
		}
		owner := view.ContainerOwner(c.Name)
		switch {
		case slices.Contains(native, c.Name):
			nativeCount++
			misplaced = misplaced || len(initAfter) > 0
		case owner == manager: // Other init containers of the manager are last.
		case owner == "" || len(initAfter) > 0:
			initAfter = append(initAfter, c.Name)
		default:
			initBefore = append(initBefore, c.Name)
		}
	}
	if misplaced || nativeCount < len(native) {
		return initBefore, initAfter
	}
	return nil, nil
}

// isOutOfOrder reports whether the init containers of the workload need another order (see initOrder).
func isOutOfOrder(manager string, desired *Desired, view *workload.View) bool {
	_, initAfter := initOrder(manager, desired, view)
	return len(initAfter) > 0
}
