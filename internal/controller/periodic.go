// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"

	"kontroloop.ai/vector-sidecar-operator/internal/companion"
)

// addPeriodic adds the runnables that do something periodically.
func (r *Reconciler) addPeriodic(ctx context.Context, mgr ctrl.Manager, options *Options) error {
	log := loggerOf(mgr.GetLogger())(nil)
	for _, verdict := range companion.Verdicts() {
		r.Metrics.Leftovers(string(verdict), 0) // Until there is a look.
	}
	sweeping := &sweeper{
		applier: r.applier, leftoverSignal: r.leftovers, sidecars: r.snapshots.sidecars, client: mgr.GetClient(), live: mgr.GetAPIReader(),
		writtenBy: options.WrittenBy, log: log, told: map[leftover]companion.Verdict{}, cleaned: map[types.UID]swept{},
	}
	if err := mgr.Add(sweeping); err != nil {
		return fmt.Errorf("adding the sweep for leftovers: %w", err)
	}
	if err := r.addInjection(mgr, options, log); err != nil {
		return err
	}
	r.auditor.log = log
	if options.Nodes != nil {
		if err := r.addKubelets(ctx, mgr, log); err != nil {
			return err
		}
	}
	if err := mgr.Add(r.auditor); err != nil {
		return fmt.Errorf("adding the comparison with the live workloads: %w", err)
	}
	if options.ReconcileInterval == 0 {
		return nil
	}
	err := mgr.Add(rejudger{sidecars: r.snapshots.sidecars, memory: r.memory, resyncs: r.auditor.resyncs, interval: options.ReconcileInterval})
	if err != nil {
		return fmt.Errorf("adding the periodic reconcile: %w", err)
	}
	return nil
}

// addKubelets looks for the oldest kubelet, because sidecars are rendered by it, and has it looked
// for periodically.
func (r *Reconciler) addKubelets(ctx context.Context, mgr ctrl.Manager, log logr.Logger) error {
	known := r.snapshots.kubelets
	known.resyncs, known.elected, known.log = r.auditor.resyncs, mgr.Elected(), log
	if _, err := known.look(ctx); err != nil {
		return fmt.Errorf("looking for the oldest kubelet: %w", err)
	}
	if err := mgr.Add(known); err != nil {
		return fmt.Errorf("adding the look at kubelets: %w", err)
	}
	return nil
}
