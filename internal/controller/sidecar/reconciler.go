// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/catalog"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/clustersidecar"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/companionuse"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/declared"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/events"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/finalizer"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/instrument"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/leftovers"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/notify"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/overlayset"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/podfaults"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/sidecarcache"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/slots"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/validation"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/waves"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
)

// New returns the VectorSidecarReconciler of a manager. The manager's cache must store the records that Workloads
// makes of workloads, ConfigMaps after DigestConfigMaps, and VectorSidecars after DropLargeContent.
func New(ctx context.Context, mgr ctrl.Manager, options *Options) (*VectorSidecarReconciler, error) {
	var policies *overlayset.PolicyAPI
	if options.OverlaySets {
		var err error
		if policies, err = overlayset.NewPolicyAPI(ctx, mgr, options.Workloads.HasKind, options.Clock); err != nil {
			return nil, err
		}
	}
	var namespaces client.Reader // With watched namespaces, the cache has no Namespaces.
	if len(options.WatchNamespaces) == 0 {
		namespaces = mgr.GetClient()
	}
	recorder := events.New(mgr.GetEventRecorder(meta.Operator), mgr.GetScheme(), namespaces, options.Instruments.Metrics)
	return newReconciler(mgr.GetClient(), options.Pager.Client(mgr.GetAPIReader()), policies, recorder, options), nil
}

// newReconciler returns a VectorSidecarReconciler with a cached and a live client. The policies are nil if the installation
// does not use admission injection.
func newReconciler(cached client.Client, live *livelist.Client, policies *overlayset.PolicyAPI, recorder *events.Recorder, options *Options) *VectorSidecarReconciler {
	observed := instrument.New(options.Instruments, options.Timeout, options.Clock)
	notifier := &notify.Notifier{ClusterScoped: &notify.Notifier{}}
	clusterStates := state.NewClusters(notifier)
	memory, writer, workloads := state.New(options.Clock), apply.New(cached), options.Workloads
	sidecars := sidecarcache.New(cached, live, options.Settings.Home, options.ClusterSidecars)
	overlays := overlayset.NewMemory(observed.Clock, policies != nil)
	statuses := &statusWriter{instruments: observed, writer: writer, events: recorder, clusters: clusterStates}
	waveState := state.NewWaves()
	platforms := catalog.New(&catalog.Options{
		Cached: cached, Live: live, Writer: writer, Sidecars: sidecars, Events: recorder, Metrics: options.Instruments.Metrics, Backoff: memory.Backoff,
		Waves: waveState, Notifier: notifier, Catalog: options.Catalog, Namespace: options.Settings.Home, Installation: options.Installation,
		Quiet: options.Quiet, ReadsPods: options.ReadPods, Clock: options.Clock,
	})
	slotScheduler := slots.New(sidecars.Keys, platforms.Rules, options.Instruments.Metrics, notifier, observed.Clock)
	access := podfaults.NewAccess(options.ReadPods, options.Permissions, options.WatchNamespaces, options.Clock)
	namespaces := &namespaces{
		cached: cached, live: live, names: options.WatchNamespaces, sidecarKeys: sidecars.KeysIn, notifier: notifier, rules: platforms.Rules, known: map[string]source.Namespace{},
	}
	taking := &snapshots{
		instruments: observed, client: cached, sidecars: sidecars, workloads: workloads, options: options,
		namespaces: namespaces, configMaps: newConfigMapCache(live.Reader()), pods: podfaults.NewReader(live, access, observed.Clock), access: access,
		catalog: platforms, kubelets: &kubelets{nodes: options.Nodes}, policies: policies, accounts: newAccounts(live.Reader(), options.ReadAccounts),
	}
	leftoverSignal := &leftovers.Signal{}
	uses := companionuse.New(companionuse.Options{Live: live, Kinds: workloads.Kinds(), Wake: wakeAfterList(notifier, leftoverSignal), Clock: observed.Clock})
	applying := &applier{instruments: observed, writer: writer, events: recorder, overlays: overlays, uses: uses, views: &stalenessGuard{live: live.Reader(), workloads: workloads, now: observed.Clock}, isStopped: platforms.IsStopped}
	subcontrollers := []subcontroller{
		leftovers.New(leftovers.Options{
			Cached: cached, Sidecars: sidecars, Live: live, Workloads: workloads, Writer: writer, Uses: uses, Signal: leftoverSignal, Backoff: memory.Backoff,
			Recorder: recorder, Metrics: options.Instruments.Metrics, Clock: options.Clock, WrittenBy: options.Settings.WrittenBy,
		}),
		waves.New(waves.Options{
			Sidecars: sidecars, Catalog: platforms, NamespaceLabels: namespaces.labels, Memory: memory, Waves: waveState, Notifier: notifier,
			Events: recorder, Metrics: options.Instruments.Metrics, Installation: options.Installation, DefaultEnvironment: options.Settings.DefaultEnvironment,
		}),
	}
	if options.ClusterSidecars {
		subcontrollers = append(subcontrollers, clustersidecar.New(clustersidecar.Options{
			Workloads: workloads, Sidecars: sidecars, Writer: writer, Recorder: recorder, Observer: observed, Catalog: platforms, Access: access,
			Clusters: clusterStates, Memory: memory, Waves: waveState, Slots: slotScheduler, Notifier: notifier,
			DefaultEnvironment: options.Settings.DefaultEnvironment, Injects: policies != nil,
		}))
	}
	if policies != nil {
		subcontrollers = append(subcontrollers, overlayset.New(overlayset.Options{
			Cached: cached, Live: live.Reader(), Writer: writer, Sidecars: sidecars, Policies: policies, Memory: overlays, Notifier: notifier,
			Clock: options.Clock, Concurrency: options.Concurrency,
		}))
	} else {
		subcontrollers = append(subcontrollers, overlayset.NewRemoval(live, writer, options.WatchNamespaces))
	}
	if options.ValidationJobs {
		subcontrollers = append(subcontrollers, validation.New(validation.Options{
			Cached: cached, Live: live, Sidecars: sidecars, Memory: memory, Writer: writer, Recorder: recorder, Notifier: notifier,
		}))
	}
	if options.Installation.Name != "" {
		subcontrollers = append(subcontrollers, declared.New(declared.Options{
			Cached: cached, Live: live, Writer: writer, Recorder: recorder, Metrics: options.Instruments.Metrics, Backoff: memory.Backoff,
			Installation: options.Installation, WrittenBy: options.Settings.WrittenBy, WatchNamespaces: options.WatchNamespaces, ClusterSidecars: options.ClusterSidecars,
		}))
	}
	return &VectorSidecarReconciler{
		instruments: observed,
		memory:      memory,
		snapshots:   taking,
		validations: &validations{client: cached, writer: writer, isEnabled: options.ValidationJobs},
		preflights:  &preflights{instruments: observed, writer: writer, isEnabled: options.Preflight},
		applier:     applying,
		finalizer:   finalizer.New(live, writer, workloads.Kinds(), observed.Clock),
		statuses:    statuses,
		periodic: &periodic{
			snapshots: taking, applier: applying, memory: memory,
			leftovers: leftoverSignal, notifier: notifier, live: &liveRefresh{live: live, workloads: workloads, now: observed.Clock},
		},
		slots: slotScheduler,
		rollouts: &rolloutTracker{
			catalog: platforms, namespaces: namespaces, access: access, statuses: statuses, clusters: clusterStates, waves: waveState,
			notifier: notifier, options: options, now: observed.Clock,
		},
		clusters:       clusterStates,
		subcontrollers: subcontrollers,
	}
}

// wakeAfterList returns the function that requests a reconcile of a VectorSidecar after a list of revisions. Without a
// name, the function requests a cleanup of leftovers.
func wakeAfterList(notifier *notify.Notifier, signal *leftovers.Signal) func(types.NamespacedName) {
	return func(name types.NamespacedName) {
		if name.Name == "" {
			signal.Wake()
			return
		}
		notifier.NotifyWithLowPriority(name)
	}
}
