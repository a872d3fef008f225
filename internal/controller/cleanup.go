// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kontroloop.ai/vector-sidecar-operator/internal/companion"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/events"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/shutdown"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/status"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
)

// Reconcile runs one leftover cleanup. It returns when the next cleanup is due without an event.
func (s *sweeper) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	if !s.views.workloads.IsSynced() {
		return reconcile.Result{RequeueAfter: sweepDelay / 10}, nil
	}
	delay := wait.Jitter(sweepInterval, 0.2)
	switch s.sweep(ctx) {
	case allSwept:
		s.backoff.Reset(state.RetryLeftovers, leftoverKey.Name)
	case notYet:
		s.backoff.Reset(state.RetryLeftovers, leftoverKey.Name)
		delay = sweepRetry
	case notAble:
		delay = s.backoff.Next(state.RetryLeftovers, leftoverKey.Name)
	}
	return reconcile.Result{RequeueAfter: delay}, nil
}

// setupWithManager adds the controller of leftovers to a manager. Its first cleanup starts at once.
func (s *sweeper) setupWithManager(ctx context.Context, mgr ctrl.Manager) error {
	s.notifier.Notify(leftoverKey)
	return ctrl.NewControllerManagedBy(mgr).Named(leftoverKey.Name).
		WithOptions(controller.Options{SkipNameValidation: new(true)}).                                     // Tests run one operator after another.
		WithLogConstructor(func(*reconcile.Request) logr.Logger { return loggerOf(mgr.GetLogger())(nil) }). // The key does not name an object.
		WatchesRawSource(s.notifier.Source()).
		Complete(shutdown.StopReconciles(ctx, s))
}

// sweep runs one leftover cleanup.
func (s *sweeper) sweep(ctx context.Context) progress {
	exists := s.sidecars.WithDisabledClusters(companion.NewExistenceCheck(s.sidecars.ListIn(ctx, ""), s.sidecars.Clusters(ctx)))
	leftovers := companion.FindLeftovers(carriersOf(s.views.workloads.ListTraced()), exists, s.writtenBy)
	leftovers, confirmed := s.confirm(ctx, leftovers)
	leftovers, cleaned := s.clean(ctx, leftovers)
	s.tellLeftovers(ctx, leftovers)
	return max(confirmed, cleaned, s.deleteStrays(ctx))
}

// tellLeftovers counts the leftovers. It reports each leftover that a user must check, but only once.
func (s *sweeper) tellLeftovers(ctx context.Context, leftovers []companion.Leftover) {
	counts, reported := map[companion.LeftoverAction]int{}, map[leftover]companion.LeftoverAction{}
	for i := range leftovers {
		finding := &leftovers[i]
		key := leftover{finding.UID, finding.Manager}
		counts[finding.Action]++
		reported[key] = finding.Action
		if finding.Action != companion.Report || s.told[key] == finding.Action {
			continue
		}
		log.FromContext(ctx).Info("leftover found", telemetry.KeyWorkload, status.Object(finding.Ref), telemetry.KeyName, finding.Sidecar, "cause", finding.Reason)
		s.events.Eventf(events.Reference(finding.Ref), nil, corev1.EventTypeWarning, meta.ReasonLeftoverFound, string(plan.None),
			"found fields of %s, which does not exist: %s", meta.Title(finding.Sidecar), finding.Reason)
	}
	s.told = reported
	s.hasFound.Store(len(reported) > 0)
	for _, verdict := range companion.LeftoverActions() {
		s.Metrics.SetLeftovers(string(verdict), counts[verdict])
	}
}
