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

// overlayValidator checks the overlays of a namespace with dry runs and definitions. It implements
// overlayset.Validator for one call.
type overlayValidator struct {
	ctx         context.Context
	writer      *apply.Writer
	definitions *definitions
	namespace   string
	// refusals has the results of dry runs, by the digests of the overlays. New results are added.
	refusals map[string]string
}

// Rejection makes one dry run for each digest. It returns the reason of the rejection, or "" if the API server accepts
// the template.
func (j *overlayValidator) Rejection(digest string, template *corev1.PodTemplateSpec) (string, error) {
	if refusal, ok := j.refusals[digest]; ok {
		return refusal, nil
	}
	refusal, err := j.writer.DryRunTemplate(j.ctx, j.namespace, template)
	if err == nil {
		j.refusals[digest] = refusal
	}
	return refusal, err
}

// Objection explains why the API server must not inject a pod into a kind, according to the definition of the kind.
// It returns "" if it may.
func (j *overlayValidator) Objection(kind v1alpha1.WorkloadKind, pod map[string]any) (string, error) {
	return j.definitions.findProblem(j.ctx, workload.KindByName(string(kind)), pod)
}
