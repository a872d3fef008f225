// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// These are the injectors of a sidecar.
const (
	byAdmission = "the API server, when the workload was written"
	byOperator  = "the operator, after the workload was written"
)

// injectionOrigin returns the injector of the sidecar in a workload, or "" for a workload without a sidecar.
func injectionOrigin(owned *workload.OwnedFields, hasFields bool) string {
	switch {
	case !hasFields || owned.IsEmpty():
		return ""
	case owned.IsAdmissionInjected(), plan.IsAdmissionCause(owned.ChangeCause):
		return byAdmission
	}
	return byOperator
}

// describeAdmission describes whether the API server injects the sidecars of a VectorSidecar into new workloads, with the
// reason if not. It returns "" if the namespace has no OverlaySet, or if the OverlaySet cannot be read.
func (s *session) describeAdmission(ctx context.Context, sidecar *v1alpha1.VectorSidecar) string {
	if s.cluster == nil {
		return ""
	}
	var set v1alpha1.OverlaySet
	if s.cluster.Get(ctx, client.ObjectKey{Namespace: sidecar.Namespace, Name: meta.OverlaySet}, &set) != nil {
		return "" // The OverlaySet does not exist, or the user may not read it.
	}
	offered, reason := 0, "the sidecar is not in the OverlaySet of the namespace"
	for i := range set.Spec.Overlays {
		switch overlay := &set.Spec.Overlays[i]; {
		case overlay.VectorSidecar != sidecar.Name:
		case overlay.SkipReason != "":
			reason = overlay.SkipReason
		default:
			offered++
		}
	}
	if offered == 0 {
		return "by the operator: " + reason
	}
	return fmt.Sprintf("by the API server, if its admission policy can evaluate the workload (%s)", countNoun(offered, "overlay"))
}
