// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/instrument"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/election"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/preflight"
	"kontroloop.ai/vector-sidecar-operator/internal/status"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

const (
	// trialTimeout is the timeout of one dry run. It is longer than the API server's default timeout of a webhook.
	// trialsTimeout is the timeout of all dry runs of a reconcile. Sidecars without a result by then are written
	// without a dry run.
	trialTimeout, trialsTimeout = 12 * time.Second, 30 * time.Second
	// trialsAtOnce is the number of pod shapes with concurrent dry runs.
	trialsAtOnce = 4
	// triedOfShape is the maximum number of dry runs for one pod shape in a reconcile, if their results apply to
	// single workloads.
	triedOfShape = 3
)

// preflights makes dry runs of sidecars before they are written, if it is enabled.
type preflights struct {
	instruments *instrument.Observer
	writer      *apply.Writer
	isEnabled   bool
}

// runDryRuns makes the dry runs for the plans of a decision, once for each shape of pods. isNews is true if a plan
// must not be written, so that a new decision is necessary.
func (f *preflights) runDryRuns(ctx context.Context, sidecarState *state.Sidecar, decision *decision.Decision) (isNews bool) {
	if !f.isEnabled {
		return false
	}
	sidecarState.KeepDryRuns(decision.Plans)
	shapes := untestedShapes(sidecarState, decision.Plans)
	if len(shapes) == 0 {
		return false
	}
	trying, cancel := context.WithTimeout(ctx, trialsTimeout)
	defer cancel()
	trying, step := f.instruments.StartStep(trying, "preflight")
	defer func() { step.End(ctx.Err()) }()
	missing := f.missingSecrets(trying, shapes)
	news, group := make([]bool, len(shapes)), errgroup.Group{}
	group.SetLimit(trialsAtOnce)
	for i, shape := range shapes {
		group.Go(func() error {
			news[i] = f.dryRunShape(ctx, trying, sidecarState, shape, missing)
			return nil
		})
	}
	_ = group.Wait() // The functions store the results in the state.
	return ctx.Err() != nil || slices.Contains(news, true)
}

// untestedShapes returns the plans that need a dry run before they are written, in one list for each pod shape.
func untestedShapes(sidecarState *state.Sidecar, plans []plan.Plan) [][]*plan.Plan {
	verdicts := sidecarState.DryRuns()
	index, shapes := map[preflight.Key]int{}, [][]*plan.Plan{}
	for i := range plans {
		p := &plans[i]
		if !preflight.NeedsDryRun(p) {
			continue
		}
		if _, isKnown := preflight.FindResult(verdicts, p); isKnown {
			continue
		}
		key := preflight.NewKey(p)
		if _, ok := index[key]; !ok {
			index[key], shapes = len(shapes), append(shapes, nil)
		}
		shapes[index[key]] = append(shapes[index[key]], p)
	}
	return shapes
}

// dryRunShape makes a dry run for one of the plans with the same pod shape, or for more of them if a result applies
// only to its workload. isNews is true if a plan must not be written. trying ends with the time for dry runs, and ctx
// with the reconcile.
func (f *preflights) dryRunShape(ctx, trying context.Context, sidecarState *state.Sidecar, shape []*plan.Plan, missing map[string]bool) (isNews bool) {
	individualCount := 0
	for _, p := range shape {
		if individualCount == triedOfShape {
			return true // The next reconcile, which starts at once, checks the remaining workloads.
		}
		verdict, isJudged := f.dryRunResult(trying, p, missing)
		if ctx.Err() != nil {
			return false
		}
		if !isJudged {
			continue // The write itself will report the error.
		}
		sidecarState.SetDryRun(p, verdict)
		f.recordResult(ctx, p, verdict)
		isNews = isNews || verdict.IsRejected()
		if !verdict.IsWorkloadSpecific {
			return isNews
		}
		individualCount++
	}
	return isNews
}

// dryRunResult makes the dry run of one plan. It returns false if the result does not apply to pods: the workload was
// deleted or changed, or another field manager owns the fields.
func (f *preflights) dryRunResult(ctx context.Context, p *plan.Plan, missing map[string]bool) (preflight.DryRunResult, bool) {
	for _, secret := range preflight.RequiredSecrets(p.Desired.Template(), p.Desired.PullSecrets()) {
		if missing[secret] {
			reason := "the sidecar requires this Secret to start"
			if slices.Contains(p.Desired.PullSecrets(), secret) {
				reason = "the sidecar's images require this pull secret"
			}
			return preflight.DryRunResult{Result: preflight.Rejected, Message: fmt.Sprintf("Secret %s/%s does not exist, and %s", p.Target.Namespace, secret, reason)}, true
		}
	}
	object, err := f.dryRun(ctx, p)
	var conflict *apply.ConflictError
	switch {
	case errors.Is(err, apply.ErrGone), errors.Is(err, apply.ErrStale), errors.Is(err, apply.ErrTerminating), errors.Is(err, election.ErrNotLeading), errors.As(err, &conflict):
		return preflight.DryRunResult{}, false
	case err != nil:
		answer := preflight.NewAnswer(err)
		return preflight.DryRunResult{Result: answer.Result, Message: answer.Text}, true
	}
	pod := workload.DryRunPod(object)
	tryWithoutSidecar := func() preflight.Answer { return f.createPod(ctx, preflight.RemoveSidecar(pod, p.Desired.Template())) }
	return preflight.NewDryRunResult(f.createPod(ctx, pod), tryWithoutSidecar, workload.RemovesFirst(object)), true
}

// dryRun makes a dry run of the write of a plan.
func (f *preflights) dryRun(ctx context.Context, p *plan.Plan) (workload.Object, error) {
	ctx, cancel := context.WithTimeout(ctx, trialTimeout)
	defer cancel()
	return f.writer.DryRun(ctx, p)
}

// createPod makes a dry run of the creation of a pod. It does not change the pod.
func (f *preflights) createPod(ctx context.Context, pod *corev1.Pod) preflight.Answer {
	ctx, cancel := context.WithTimeout(ctx, trialTimeout)
	defer cancel()
	return preflight.NewAnswer(f.writer.DryRunCreate(ctx, pod.DeepCopy()))
}

// missingSecrets returns the names of the missing Secrets among those that sidecars need to start. The API server
// rejects a dry-run create if the Secret exists. The operator gets no other information about it.
func (f *preflights) missingSecrets(ctx context.Context, shapes [][]*plan.Plan) map[string]bool {
	missing := map[string]bool{}
	for _, shape := range shapes {
		for _, secret := range preflight.RequiredSecrets(shape[0].Desired.Template(), shape[0].Desired.PullSecrets()) {
			if _, ok := missing[secret]; ok {
				continue
			}
			missing[secret] = f.isMissing(ctx, shape[0].Target.Namespace, secret)
		}
	}
	return missing
}

func (f *preflights) isMissing(ctx context.Context, namespace, name string) bool {
	ctx, cancel := context.WithTimeout(ctx, trialTimeout)
	defer cancel()
	err := f.writer.DryRunCreate(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		log.FromContext(ctx).V(1).Info("checking whether a Secret exists", "secret", name, "cause", err.Error())
	}
	return err == nil
}

// recordResult counts a dry-run result. If the result is not a pass, it also logs the result.
func (f *preflights) recordResult(ctx context.Context, p *plan.Plan, verdict preflight.DryRunResult) {
	f.instruments.Metrics.RecordPreflight(string(verdict.Result))
	if verdict.Result != preflight.Passed {
		log.FromContext(ctx).Info("completed preflight dry run", telemetry.KeyWorkload, status.WorkloadTitle(p.Target), telemetry.KeyHash, p.InjectedHash(), "result", verdict.Result, "cause", verdict.Message)
	}
}
