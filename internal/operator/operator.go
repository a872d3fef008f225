// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package operator assembles the process: options, cache, health, metrics, leader election and the
// controller. It starts them, and contains no logic of the controller.
package operator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/admission"
	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/instrument"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/schedule"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/sidecar"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
	"kontroloop.ai/vector-sidecar-operator/internal/serverclock"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
)

// Process has the dependencies of the operator that are not flags, such as the clock, the tracer and the version. The
// zero value is usable.
type Process struct {
	// Version is the version of the operator, for its metrics and for the records of its writes.
	Version string
	// Tracer and Reports observe the controller. Without Reports, nothing is reported.
	Tracer  telemetry.Tracer
	Reports *telemetry.Reporter
	// Level is the logger's level; the configuration file can change it.
	Level LevelSetter
	// Now is the clock of the process; nil means time.Now.
	Now func() time.Time
	// Timeout is the time without progress after which the controller counts as stuck. 0 stands for a time that is
	// longer than any of its steps may take.
	Timeout time.Duration
	// Quiet is the time for which handwritten ConfigMaps of the installation must not change before they are published.
	// 0 stands for the controller's default, and less than 0 for no delay.
	Quiet time.Duration
	// PolicyInterval is the approximate interval for checking whether the API server injects sidecars, and whether the
	// required objects exist. 0 stands for the controller's default.
	PolicyInterval time.Duration
	// Pager is the pager of the process, or nil for a new one.
	Pager *livelist.Pager
}

// Run runs the operator with a sidecar chart until the context is canceled. With an admission webhook, it continues for
// the shutdown delay after that.
func Run(ending context.Context, config *rest.Config, chart fs.FS, options Options, process Process) error {
	ctx, cancel := withDelayedCancel(ending, options.Webhook.shutdownDelay())
	defer cancel()
	limitMemory(ctx)
	catalog, err := loadCatalog(chart, options)
	if err != nil {
		return err
	}
	if err := options.checkCertificates(); err != nil {
		return err
	}
	clock := serverclock.New(process.Now)
	config = rest.CopyConfig(config)
	config.Wrap(clock.WrapTransport)
	livelist.LimitResponses(config)
	version, err := serverVersion(config, &options)
	if err != nil {
		return err
	}
	unwatched, err := excludeUnreadableNamespaces(ctx, config, &options)
	if err != nil {
		return err
	}
	workloads, cache, pager := options.newWorkloadCache(), desired.NewCache(), cmp.Or(process.Pager, livelist.NewPager())
	mgr, err := newManager(ctx, config, options, informerOptions{workloads, pager})
	if err != nil {
		return fmt.Errorf("creating the manager: %w", err)
	}
	counted := telemetry.NewMetrics(process.Version, time.Now, kindNames(options.kinds())...)
	loopSettings := loopOptions(&options, &process)
	loopSettings.Pager = pager
	loopSettings.Workloads, loopSettings.Catalog, loopSettings.Settings.KubeVersion, loopSettings.Clock = workloads, catalog, version, clock.Now
	loopSettings.Instruments.Metrics, loopSettings.Cache = counted, cache
	if err := addClusterAccess(&loopSettings, config, mgr.GetRESTMapper(), &options); err != nil {
		return err
	}
	loop, err := sidecar.New(ctx, mgr, &loopSettings)
	if err != nil {
		return err
	}
	switch err := loop.SetupWithManager(ctx, mgr); {
	case err != nil && ctx.Err() != nil:
		return nil // The signal to stop arrived during the start.
	case err != nil:
		return fmt.Errorf("setting up the controller: %w", err)
	}
	deps := webhookDeps{loop: loop, cache: cache, served: &admission.ServedCertificate{}, bare: desired.NewPlatform(catalog.Builtin(), "", nil), counted: counted, config: config}
	if err := addWebhook(ctx, ending, mgr, options, deps); err != nil {
		return err
	}
	unexport, err := exportMetrics(ctx, mgr, options, counted)
	if err != nil {
		return err
	}
	defer unexport()
	if err := errors.Join(addHealthChecks(mgr, loop.Alive), addReloader(mgr, options, process.Level), mgr.Add(schedule.OnEveryReplica(schedule.Every(scopeInterval, unwatched.check)))); err != nil {
		return fmt.Errorf("adding the health checks and background tasks: %w", err)
	}
	if err := mgr.Start(ctx); err != nil {
		return fmt.Errorf("running: %w", err)
	}
	return nil
}

// addClusterAccess sets how the controller reads nodes and, if it reads pods, the operator's own permissions. It also
// detects the properties of the cluster.
func addClusterAccess(loopSettings *sidecar.Options, config *rest.Config, mapper apimeta.RESTMapper, options *Options) (err error) {
	if loopSettings.Nodes, err = newNodes(config, options); err != nil {
		return err
	}
	if options.ReadPods {
		if loopSettings.Permissions, err = source.NewPermissions(config); err != nil {
			return err
		}
	}
	loopSettings.Settings.Cluster, err = detectCluster(config, mapper)
	return err
}

// newNodes returns the reader of the nodes, or nil if the operator does not read nodes.
func newNodes(config *rest.Config, options *Options) (sidecar.Nodes, error) {
	if !options.ReadNodes {
		return nil, nil
	}
	return source.NewNodes(config)
}

// loopOptions returns the controller options that depend on the options and the process.
func loopOptions(options *Options, process *Process) sidecar.Options {
	return sidecar.Options{
		Settings: desired.Settings{
			Home: options.Namespace, DefaultEnvironment: options.Environment, WrittenBy: options.writtenBy(), Version: process.Version, Budget: bounded.NewBudget(),
		},
		Installation:      options.installation(),
		WatchNamespaces:   options.WatchNamespaces,
		ClusterSidecars:   options.ClusterSidecars,
		Concurrency:       options.Concurrency,
		Instruments:       instrument.Instruments{Tracer: process.Tracer, Reports: cmp.Or(process.Reports, telemetry.NewNoopReporter())},
		Timeout:           process.Timeout,
		Quiet:             process.Quiet,
		PolicyInterval:    process.PolicyInterval,
		ValidationJobs:    options.ValidationJobs,
		ReadPods:          options.ReadPods,
		Preflight:         options.Preflight,
		OverlaySets:       options.AdmissionInjection,
		RequiredObjects:   options.requiredObjects(),
		ReadAccounts:      options.ReadServiceAccounts,
		ReconcileInterval: options.ReconcileInterval,
	}
}

// installation returns the name of the ConfigMap with the installation's values, or an empty name if there is none.
func (o *Options) installation() types.NamespacedName {
	if o.EnvironmentsConfigMap == "" {
		return types.NamespacedName{}
	}
	return types.NamespacedName{Namespace: o.Namespace, Name: o.EnvironmentsConfigMap}
}

// writtenBy returns the name of this installation, which distinguishes it from other installations in the cluster.
// Replicas that share a Lease have the same name. It returns "" if the operator does not know its namespace.
func (o *Options) writtenBy() string {
	if o.Namespace == "" {
		return ""
	}
	return o.Namespace + "/" + cmp.Or(o.LeaderElectionID, defaultLeaderElectionID)
}

// loadCatalog loads the built-in chart. It returns an error if the default environment does not exist and no other
// source can define it.
func loadCatalog(chart fs.FS, options Options) (*desired.Catalog, error) {
	files, err := render.ReadFiles(chart)
	if err != nil {
		return nil, err
	}
	catalog, err := desired.NewCatalog(files)
	if err != nil {
		return nil, err
	}
	if _, err := catalog.Builtin().Environments.Values(options.Environment); err != nil && options.EnvironmentsConfigMap == "" {
		return nil, fmt.Errorf("--environment: %w", err)
	}
	return catalog, nil
}

// detectCluster returns the cluster data for templates. The IP family follows from the address of the API server. In a
// pod, that is the address of the Service kubernetes in an environment variable, so reading it needs no permission. The
// platform follows from the kinds that the API server serves.
func detectCluster(config *rest.Config, kinds apimeta.RESTMapper) (render.Cluster, error) {
	cluster := render.Cluster{}
	if address, err := url.Parse(config.Host); err == nil { // Otherwise the host is a name without a scheme.
		cluster.IPFamily = source.ParseIPFamily(address.Hostname())
	}
	platform, err := source.Platform(kinds)
	cluster.Platform = platform
	return cluster, err
}

// serverVersion returns the version of the API server. If the API server does not serve ClusterVectorSidecars, it
// disables them in the options, because a watch for them would block all other watches.
func serverVersion(config *rest.Config, options *Options) (version string, err error) {
	server, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return "", fmt.Errorf("creating a discovery client: %w", err)
	}
	info, err := server.ServerVersion()
	if err != nil {
		return "", fmt.Errorf("getting the API server's version: %w", err)
	}
	if options.ClusterSidecars {
		options.ClusterSidecars, err = servesClusters(server)
	}
	return info.GitVersion, err
}

// servesClusters reports whether the API server serves ClusterVectorSidecars.
func servesClusters(server discovery.DiscoveryInterface) (bool, error) {
	served, err := server.ServerResourcesForGroupVersion(v1alpha1.GroupVersion.String())
	if err != nil && !apierrors.IsNotFound(err) {
		return false, fmt.Errorf("discovering the kinds of %s: %w", v1alpha1.GroupVersion, err)
	}
	isServed := served != nil && slices.ContainsFunc(served.APIResources, func(r metav1.APIResource) bool { return r.Kind == "ClusterVectorSidecar" })
	if !isServed {
		telemetry.Warn(ctrl.Log, "ClusterVectorSidecars are disabled, because the CustomResourceDefinition is missing; install it, and restart the operator")
	}
	return isServed, nil
}
