// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package validation reads the results of the Jobs in which Vector validates configurations. The input is a finished Job;
// the output is its result in the state of a VectorSidecar.
package validation

import (
	"context"
	"fmt"
	"slices"

	"github.com/go-logr/logr"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlbuilder "sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/events"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/notify"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/shutdown"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/sidecarcache"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
	vectorconfig "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/config"
)

// Options are the dependencies of a Reconciler. All fields are required.
type Options struct {
	Cached   client.Reader
	Live     *livelist.Client
	Sidecars *sidecarcache.Lister
	Memory   *state.Memory
	Writer   *apply.Writer
	Recorder *events.Recorder
	// Notifier wakes the reconciles of VectorSidecars.
	Notifier *notify.Notifier
}

// Reconciler records the results of validation Jobs. It runs on the leader only.
type Reconciler struct{ Options }

// New returns a Reconciler.
func New(options Options) *Reconciler { return &Reconciler{options} }

// Reconcile records the result of one finished Job. Events of validation Jobs wake it. It reads the Job and its
// VectorSidecar from the cache, and the pods of a failed Job from the API server. It writes the result to the state of the
// VectorSidecar, wakes the reconcile of the VectorSidecar, and deletes the Job.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	job := &batchv1.Job{}
	if err := r.Cached.Get(ctx, request.NamespacedName, job); err != nil || job.DeletionTimestamp != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	sidecars := r.Sidecars.ListByIndex(ctx, job.Namespace, sidecarcache.IndexLabel, job.Labels[meta.LabelValidated])
	verdict, err := r.readVerdict(ctx, job)
	if err != nil {
		r.announceUnvalidated(sidecars, err.Error())
		return reconcile.Result{}, err
	}
	if verdict.State == decision.VerdictPending || len(sidecars) == 0 {
		return reconcile.Result{}, nil
	}
	if verdict.State == decision.VerdictUnable {
		r.announceUnvalidated(sidecars, verdict.Message)
	}
	for i := range sidecars {
		key := client.ObjectKeyFromObject(&sidecars[i])
		r.Memory.GetOrCreate(key).SetVerdict(job.Labels[meta.LabelValidation], verdict)
		r.Notifier.Notify(key)
	}
	return reconcile.Result{}, r.Writer.DeleteValidation(ctx, request.NamespacedName)
}

// SetupWithManager adds the Reconciler to a manager. Reconciles also end with the context.
func (r *Reconciler) SetupWithManager(ctx context.Context, mgr ctrl.Manager) error {
	isValidation := predicate.NewPredicateFuncs(func(job client.Object) bool { return job.GetLabels()[meta.LabelValidation] != "" })
	return ctrl.NewControllerManagedBy(mgr).Named("validation").
		For(&batchv1.Job{}, ctrlbuilder.WithPredicates(isValidation)).
		WithOptions(controller.Options{
			RateLimiter:        state.NewRateLimiter(),
			SkipNameValidation: new(true), // Tests run one operator after another.
		}).
		WithLogConstructor(func(*reconcile.Request) logr.Logger { return telemetry.ControllerLogger(mgr.GetLogger()) }).
		Complete(shutdown.StopReconciles(ctx, r))
}

// announceUnvalidated emits an event on each VectorSidecar with a configuration that Vector could not validate.
func (r *Reconciler) announceUnvalidated(sidecars []v1alpha1.VectorSidecar, cause string) {
	for i := range sidecars {
		r.Recorder.Eventf(&sidecars[i], nil, corev1.EventTypeWarning, meta.ReasonNotValidated, "Validate", "the configuration was not checked with Vector: %s", humanize.ShortenMessage(cause, events.NoteLimit))
	}
}

// readVerdict returns the result of a Job, pending if the Job has not finished. Only Vector's own exit code makes a
// configuration invalid, because other failures, such as a failed image pull, do not depend on the configuration.
func (r *Reconciler) readVerdict(ctx context.Context, job *batchv1.Job) (decision.Verdict, error) {
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
	isRead, err := livelist.Contains(ctx, r.Live, &corev1.PodList{}, func(listed client.Object) bool {
		pod, ok := listed.(*corev1.Pod)
		if !ok {
			return false
		}
		var hasResult bool
		verdict, hasResult = readPodVerdict(job, pod)
		return hasResult
	}, client.InNamespace(job.Namespace), client.MatchingLabels{meta.LabelValidation: job.Labels[meta.LabelValidation]})
	if err != nil {
		return decision.Verdict{}, fmt.Errorf("listing the pods of Job %s: %w", job.Name, err)
	}
	if isRead {
		return verdict, nil
	}
	condition := job.Status.Conditions[i]
	return decision.Verdict{State: decision.VerdictUnable, Message: fmt.Sprintf("Job %s failed with the reason %s: %s", job.Name, condition.Reason, condition.Message)}, nil
}

// readPodVerdict returns the result that Vector printed in a pod of a Job. It returns false if the pod has none.
func readPodVerdict(job *batchv1.Job, pod *corev1.Pod) (decision.Verdict, bool) {
	for _, container := range pod.Status.ContainerStatuses {
		end := container.State.Terminated
		if end == nil {
			continue
		}
		answer := vectorconfig.ReadAnswer(int(end.ExitCode), end.Message)
		switch {
		case answer.Outcome == vectorconfig.Rejected:
			return decision.Verdict{State: decision.VerdictInvalid, Message: humanize.ShortenMessage(answer.String(), events.NoteLimit)}, true
		case len(answer.Faults) > 0:
			return decision.Verdict{State: decision.VerdictUnable, Message: humanize.ShortenMessage("in Job "+job.Name+": "+answer.String(), events.NoteLimit)}, true
		}
	}
	return decision.Verdict{}, false
}
