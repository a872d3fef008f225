// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package overlayset

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// overlayValidator makes dry runs of the overlays of a namespace. It implements overlayset.Validator for one call.
type overlayValidator struct {
	ctx         context.Context
	writer      *apply.Writer
	definitions *definitions
	namespace   string
	// refusals has the results of dry runs, by the digests of the overlays. New results are added.
	refusals map[string]string
}

// Refusal makes one dry run of each overlay.
func (j *overlayValidator) Refusal(digest string, template *corev1.PodTemplateSpec) (string, error) {
	if refusal, ok := j.refusals[digest]; ok {
		return refusal, nil
	}
	refusal, err := j.writer.DryRunTemplate(j.ctx, j.namespace, template)
	if err == nil {
		j.refusals[digest] = refusal
	}
	return refusal, err
}

// Objection checks the definition of the kind.
func (j *overlayValidator) Objection(kind v1alpha1.WorkloadKind, pod map[string]any) (string, error) {
	return j.definitions.findProblem(j.ctx, workload.KindByName(string(kind)), pod)
}
