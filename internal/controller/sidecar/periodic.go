// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"cmp"
	"context"
	"fmt"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"kontroloop.ai/vector-sidecar-operator/internal/controller/leftovers"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/notify"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/overlayset"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/schedule"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/sidecarcache"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
)

// periodic has the periodic tasks of the operator, except reconciles.
type periodic struct {
	snapshots *snapshots
	applier   *applier
	memory    *state.Memory
	notifier  *notify.Notifier
	live      *liveRefresh
	leftovers *leftovers.Signal
}

// add adds the tasks to a manager as runnables.
func (p *periodic) add(ctx context.Context, mgr ctrl.Manager, options *Options) error {
	logger := telemetry.ControllerLogger(mgr.GetLogger())
	ctx = log.IntoContext(ctx, logger)
	for _, presence := range source.Presences() {
		p.applier.instruments.Metrics.SetRequiredObjects(string(presence), 0)
	}
	if err := mgr.Add(p.applier.uses); err != nil {
		return fmt.Errorf("adding the lists of revisions: %w", err)
	}
	if options.OverlaySets {
		if err := p.addInjection(ctx, mgr, options); err != nil {
			return err
		}
	}
	if len(options.RequiredObjects) > 0 {
		required := &requiredObjects{
			objects: options.RequiredObjects, namespace: options.Settings.Home, live: options.Pager.Client(mgr.GetAPIReader()).Reader(),
			metrics: p.applier.instruments.Metrics, log: logger,
		}
		if err := mgr.Add(schedule.Every(cmp.Or(options.PolicyInterval, overlayset.PolicyInterval), required.check)); err != nil {
			return fmt.Errorf("adding the check for required objects: %w", err)
		}
	}
	if options.Nodes != nil {
		if err := p.addKubelets(ctx, mgr); err != nil {
			return err
		}
	}
	if options.ReconcileInterval == 0 {
		return nil
	}
	resyncs := resyncer{sidecars: p.snapshots.sidecars, memory: p.memory, notifier: p.notifier}
	if err := mgr.Add(schedule.Delay(options.ReconcileInterval, schedule.Every(options.ReconcileInterval, resyncs.requestResyncs))); err != nil {
		return fmt.Errorf("adding the periodic reconcile: %w", err)
	}
	return nil
}

// addKubelets reads the version of the oldest kubelet, because sidecars are rendered for it, and adds the polling of
// kubelets.
func (p *periodic) addKubelets(ctx context.Context, mgr ctrl.Manager) error {
	kubelets := p.snapshots.kubelets
	if _, err := kubelets.readOldest(ctx); err != nil {
		return fmt.Errorf("finding the oldest kubelet: %w", err)
	}
	if err := mgr.Add(p.refresh(ctx, kubeletInterval, kubelets.refresh)); err != nil {
		return fmt.Errorf("adding the polling of kubelets: %w", err)
	}
	return nil
}

// addInjection checks whether the API server serves MutatingAdmissionPolicies, and adds the polling for them.
func (p *periodic) addInjection(ctx context.Context, mgr ctrl.Manager, options *Options) error {
	policies := p.snapshots.policies
	policies.Detect(ctx)
	interval := cmp.Or(options.PolicyInterval, overlayset.PolicyInterval)
	if err := mgr.Add(p.refresh(ctx, interval, policies.Refresh)); err != nil {
		return fmt.Errorf("adding the polling for MutatingAdmissionPolicies: %w", err)
	}
	return nil
}

// refresh returns a runnable of every replica that calls a function periodically to refresh a cached fact about the
// cluster. If the fact has changed, it requests the reconciles of all VectorSidecars. The log is the one of the
// context.
func (p *periodic) refresh(ctx context.Context, interval time.Duration, refresh func(context.Context) (isNew bool)) manager.Runnable {
	logger := log.FromContext(ctx)
	return schedule.OnEveryReplica(schedule.Delay(interval, schedule.Every(interval, func(ctx context.Context) error {
		if refresh(log.IntoContext(ctx, logger)) {
			p.notifier.NotifyWithLowPriority(sidecarcache.Keys(p.snapshots.sidecars.ListIn(ctx, ""))...)
		}
		return nil
	})))
}
