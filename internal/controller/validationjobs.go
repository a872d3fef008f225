// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/events"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	vectorconfig "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/config"
)

// validations manages the Jobs in which Vector validates configurations.
type validations struct {
	client client.Reader
	live   *livelist.Client
	writer *apply.Writer
	events *events.Recorder
	// isEnabled is true if the operator may create such Jobs.
	isEnabled bool
}

// collect reads the results of the finished Jobs of a VectorSidecar and deletes the Jobs.
func (v *validations) collect(ctx context.Context, sidecarState *state.Sidecar, sidecar *v1alpha1.VectorSidecar) error {
	jobs, err := v.jobs(ctx, sidecar)
	if err != nil {
		return err
	}
	for i := range jobs {
		job := &jobs[i]
		verdict, err := v.verdictOf(ctx, job)
		if err != nil {
			return err
		}
		if verdict.State == decision.VerdictPending {
			continue
		}
		sidecarState.SetVerdict(job.Labels[meta.LabelValidation], verdict)
		if verdict.State == decision.VerdictUnable {
			v.events.Eventf(sidecar, nil, corev1.EventTypeWarning, meta.ReasonNotValidated, "Validate", "Vector could not be asked: %s", humanize.Message(verdict.Message, events.NoteLimit))
		}
		if err := v.writer.DeleteValidation(ctx, client.ObjectKeyFromObject(job)); err != nil {
			return err
		}
	}
	return nil
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

// verdictOf reads the result of a Job. Only Vector's own exit code makes a configuration invalid, because other
// failures, such as a failed image pull, do not depend on the configuration.
func (v *validations) verdictOf(ctx context.Context, job *batchv1.Job) (decision.Verdict, error) {
	i := slices.IndexFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool {
		return c.Status == corev1.ConditionTrue && (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed)
	})
	if i < 0 {
		return decision.Verdict{}, nil
	}
	if job.Status.Conditions[i].Type == batchv1.JobComplete {
		return decision.Verdict{State: decision.VerdictValid}, nil
	}
	var verdict decision.Verdict
	isRead, err := livelist.Contains(ctx, v.live, &corev1.PodList{}, func(listed client.Object) bool {
		pod, ok := listed.(*corev1.Pod)
		if !ok {
			return false
		}
		var hasResult bool
		verdict, hasResult = verdictOfPod(job, pod)
		return hasResult
	}, client.InNamespace(job.Namespace), client.MatchingLabels{meta.LabelValidation: job.Labels[meta.LabelValidation]})
	if err != nil {
		return decision.Verdict{}, fmt.Errorf("listing the pods of Job %s: %w", job.Name, err)
	}
	if isRead {
		return verdict, nil
	}
	condition := job.Status.Conditions[i]
	return decision.Verdict{State: decision.VerdictUnable, Message: fmt.Sprintf("Job %s failed: %s: %s", job.Name, condition.Reason, condition.Message)}, nil
}

// verdictOfPod reads the result of a pod of a Job. It returns false if the pod has no result.
func verdictOfPod(job *batchv1.Job, pod *corev1.Pod) (decision.Verdict, bool) {
	for _, container := range pod.Status.ContainerStatuses {
		end := container.State.Terminated
		if end == nil {
			continue
		}
		answer := vectorconfig.ReadAnswer(int(end.ExitCode), end.Message)
		switch {
		case answer.Outcome == vectorconfig.Refused:
			return decision.Verdict{State: decision.VerdictInvalid, Message: humanize.Message(answer.String(), events.NoteLimit)}, true
		case len(answer.Faults) > 0:
			return decision.Verdict{State: decision.VerdictUnable, Message: humanize.Message("in Job "+job.Name+": "+answer.String(), events.NoteLimit)}, true
		}
	}
	return decision.Verdict{}, false
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
		err := v.writer.Validation(ctx, sidecar, &validation.Job, &validation.Files)
		switch {
		case errors.Is(err, apply.ErrTerminating):
			tellUndone(ctx, "Job "+validation.Job.Name, err)
		case apierrors.IsForbidden(err) || apierrors.IsInvalid(err):
			sidecarState.SetVerdict(validation.Key, decision.Verdict{State: decision.VerdictUnable, Message: err.Error()})
			// The next reconcile applies the policy for such configurations.
			results = append(results, decision.Result{Object: "Job " + validation.Job.Name, RequeueAfter: atOnce})
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
