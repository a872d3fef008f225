// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"context"
	"errors"
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
)

// validations creates the Jobs in which Vector validates configurations. The controller of validations reads their
// results.
type validations struct {
	client client.Reader
	writer *apply.Writer
	// isEnabled is true if the operator may create such Jobs.
	isEnabled bool
}

// jobs lists the validation Jobs of a VectorSidecar.
func (v *validations) jobs(ctx context.Context, sidecar *v1alpha1.VectorSidecar) ([]batchv1.Job, error) {
	if !v.isEnabled {
		return nil, nil
	}
	var jobs batchv1.JobList
	err := v.client.List(ctx, &jobs, client.InNamespace(sidecar.Namespace), client.MatchingLabels{meta.LabelValidated: meta.LabelValue(sidecar.Name)})
	if err != nil {
		return nil, fmt.Errorf("listing Jobs: %w", err)
	}
	return slices.DeleteFunc(jobs.Items, func(job batchv1.Job) bool { return job.DeletionTimestamp != nil }), nil
}

// start creates the Jobs that the decision waits for, and deletes the Jobs that are not needed anymore.
func (v *validations) start(ctx context.Context, sidecarState *state.Sidecar, sidecar *v1alpha1.VectorSidecar, d *decision.Decision) (results decision.Results) {
	jobs, err := v.jobs(ctx, sidecar)
	if err != nil {
		return decision.Results{newFailure("Jobs of "+sidecar.Namespace, err)}
	}
	for i := range d.Validations {
		validation := &d.Validations[i]
		if slices.ContainsFunc(jobs, func(job batchv1.Job) bool { return job.Name == validation.Job.Name }) {
			continue
		}
		if sidecarState.Verdict(validation.Key).State != decision.VerdictPending {
			continue // The Job has ended since the decision.
		}
		err := v.writer.CreateValidation(ctx, sidecar, &validation.Job, &validation.Files)
		switch {
		case errors.Is(err, apply.ErrTerminating):
			logNotWritten(ctx, "Job "+validation.Job.Name, err)
		case apierrors.IsForbidden(err) || apierrors.IsInvalid(err):
			sidecarState.SetVerdict(validation.Key, decision.Verdict{State: decision.VerdictUnable, Message: err.Error()})
			// The next reconcile applies the policy for such configurations.
			results = append(results, decision.Result{Object: "Job " + validation.Job.Name, RequeueAfter: state.AtOnce})
		case err != nil:
			results = append(results, newFailure("Job "+validation.Job.Name, err))
		}
	}
	for i := range jobs {
		if slices.ContainsFunc(d.Validations, func(validation desired.Validation) bool { return validation.Job.Name == jobs[i].Name }) {
			continue
		}
		if err := v.writer.DeleteValidation(ctx, client.ObjectKeyFromObject(&jobs[i])); err != nil {
			results = append(results, newFailure("Job "+jobs[i].Name, err))
		}
	}
	return results
}

// isUnvalidated reports whether a workload waits until Vector validates its configuration again.
func isUnvalidated(plans []plan.Plan) bool {
	return slices.ContainsFunc(plans, func(p plan.Plan) bool { return p.IsBlockedBy(plan.BlockedByValidator) })
}
