// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"cmp"
	"context"
	"fmt"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"kontroloop.ai/vector-sidecar-operator/internal/companion"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/notify"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/schedule"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
)

// periodic has the periodic tasks of the operator, except reconciles.
type periodic struct {
	snapshots *snapshots
	applier   *applier
	memory    *state.Memory
	notifier  *notify.Notifier
	live      *liveRefresh
	leftovers *leftoverSignal
}

// add adds the tasks to a manager as runnables.
func (p *periodic) add(ctx context.Context, mgr ctrl.Manager, options *Options) error {
	log := loggerOf(mgr.GetLogger())(nil)
	for _, verdict := range companion.LeftoverActions() {
		p.applier.Metrics.SetLeftovers(string(verdict), 0) // The first search for leftovers replaces it.
	}
	for _, presence := range source.Presences() {
		p.applier.Metrics.SetRequiredObjects(string(presence), 0)
	}
	sweeping := &sweeper{
		strayed: map[string]bool{}, backoff: p.memory.Backoff,
		applier: p.applier, leftoverSignal: p.leftovers, sidecars: p.snapshots.sidecars, client: mgr.GetClient(), live: options.Pager.Client(mgr.GetAPIReader()),
		writtenBy: options.WrittenBy, log: log, told: map[leftover]companion.LeftoverAction{}, cleaned: map[types.UID]swept{},
	}
	if err := sweeping.setupWithManager(ctx, mgr); err != nil {
		return fmt.Errorf("adding the sweep for leftovers: %w", err)
	}
	if err := mgr.Add(p.applier.uses); err != nil {
		return fmt.Errorf("adding the lists of revisions: %w", err)
	}
	if err := p.addInjection(ctx, mgr, options, log); err != nil {
		return err
	}
	if len(options.RequiredObjects) > 0 {
		required := &requiredObjects{
			objects: options.RequiredObjects, namespace: options.Namespace, live: options.Pager.Client(mgr.GetAPIReader()).Reader(),
			metrics: p.applier.Metrics, log: log,
		}
		if err := mgr.Add(schedule.Every(cmp.Or(options.PolicyInterval, policyInterval), required.check)); err != nil {
			return fmt.Errorf("adding the check for required objects: %w", err)
		}
	}
	if options.Nodes != nil {
		if err := p.addKubelets(ctx, mgr, log); err != nil {
			return err
		}
	}
	if options.ReconcileInterval == 0 {
		return nil
	}
	resyncs := rejudger{sidecars: p.snapshots.sidecars, memory: p.memory, notifier: p.notifier}
	if err := mgr.Add(schedule.After(options.ReconcileInterval, schedule.Every(options.ReconcileInterval, resyncs.requestResyncs))); err != nil {
		return fmt.Errorf("adding the periodic reconcile: %w", err)
	}
	return nil
}

// addKubelets reads the version of the oldest kubelet, because sidecars are rendered for it, and adds the polling of
// kubelets.
func (p *periodic) addKubelets(ctx context.Context, mgr ctrl.Manager, log logr.Logger) error {
	kubelets := p.snapshots.kubelets
	kubelets.log = log
	if _, err := kubelets.look(ctx); err != nil {
		return fmt.Errorf("looking for the oldest kubelet: %w", err)
	}
	if err := mgr.Add(schedule.OnEveryReplica(schedule.After(kubeletInterval, schedule.Every(kubeletInterval, kubelets.refresh)))); err != nil {
		return fmt.Errorf("adding the polling of kubelets: %w", err)
	}
	return nil
}

// addInjection checks whether the API server serves MutatingAdmissionPolicies, and adds the polling for them. If the
// installation does not use admission injection, it adds the removal of OverlaySets that an earlier configuration left
// behind.
func (p *periodic) addInjection(ctx context.Context, mgr ctrl.Manager, options *Options, log logr.Logger) error {
	if !options.OverlaySets {
		removal := &overlaySetRemoval{live: options.Pager.Client(mgr.GetAPIReader()), writer: p.applier.writer, namespaces: options.WatchNamespaces, log: log}
		if err := mgr.Add(runUntil(ctx, manager.RunnableFunc(removal.deleteAll))); err != nil {
			return fmt.Errorf("adding the removal of overlay sets: %w", err)
		}
		return nil
	}
	apis, err := discovery.NewDiscoveryClientForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("creating a discovery client: %w", err)
	}
	defined := &definitions{
		documents: apis.OpenAPIV3WithContext(ctx), isServed: options.Workloads.HasKind, now: p.applier.sets.now, known: map[string]*knownDefinition{},
	}
	policies := &policyAPI{
		apis: apis, definitions: defined, sidecars: p.snapshots.sidecars, notifier: p.notifier, log: log,
	}
	policies.look(ctx)
	p.snapshots.policies, p.applier.sets.definitions = policies, defined
	interval := cmp.Or(options.PolicyInterval, policyInterval)
	if err := mgr.Add(schedule.OnEveryReplica(schedule.After(interval, schedule.Every(interval, policies.refresh)))); err != nil {
		return fmt.Errorf("adding the polling for MutatingAdmissionPolicies: %w", err)
	}
	return nil
}
