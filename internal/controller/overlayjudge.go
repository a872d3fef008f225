// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// judge asks the API server about the overlays of a namespace, which is locked. It implements
// overlayset.Judge for the time of one call.
type judge struct {
	ctx       context.Context
	sets      *overlaySets
	namespace string
	in        *space
}

// Refusal asks once about each overlay.
func (j *judge) Refusal(digest string, template *corev1.PodTemplateSpec) (string, error) {
	if refusal, isKnown := j.in.refusals[digest]; isKnown {
		return refusal, nil
	}
	refusal, err := j.sets.writer.Try(j.ctx, j.namespace, template)
	if err == nil {
		j.in.refusals[digest] = refusal
	}
	return refusal, err
}

// Objection goes by the definition of the kind.
func (j *judge) Objection(kind v1alpha1.WorkloadKind, pod map[string]any) (string, error) {
	return j.sets.definitions.objection(j.ctx, workload.KindOf(string(kind)), pod)
}
