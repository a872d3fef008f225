// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap/zapcore"
	"k8s.io/apimachinery/pkg/api/validation"

	"kontroloop.ai/vector-sidecar-operator/internal/source"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Options configures the process. ParseOptions creates it.
type Options struct {
	// Config is the path of the configuration file, empty for none.
	Config string
	// Namespace is the operator namespace, with the lease and the installation's values.
	Namespace string
	// WorkloadKinds are the enabled kinds of workloads; empty for Deployments.
	WorkloadKinds []string
	// WatchNamespaces are the namespaces in which the operator reconciles VectorSidecars. It is empty for all
	// namespaces.
	WatchNamespaces []string
	// ClusterSidecars enables ClusterVectorSidecars, which need all namespaces.
	ClusterSidecars bool
	// Environment is the default environment.
	Environment string
	// EnvironmentsConfigMap is the name of the ConfigMap in Namespace with the installation's
	// values. It has one key ENVIRONMENT.yaml for each environment. Empty for none.
	EnvironmentsConfigMap string
	// Concurrency is the number of VectorSidecars that are reconciled at the same time.
	Concurrency int
	// ReconcileInterval is the approximate interval after which every VectorSidecar is evaluated
	// from scratch, from the cache; 0 for never.
	ReconcileInterval time.Duration
	// ValidationJobs allows VectorSidecars to validate a configuration with Vector in a Job.
	ValidationJobs bool
	// ReadPods makes the operator read the pods of workloads that are not ready, which needs
	// permission to list them.
	ReadPods bool
	// Preflight makes the API server check sidecars with dry runs before they are written, which
	// needs permission to create pods and Secrets.
	Preflight bool
	// AdmissionInjection maintains OverlaySets, from which the API server injects into new
	// workloads.
	AdmissionInjection bool
	// ReadNodes makes the operator list the nodes for the versions of their kubelets, which needs
	// permission to list them.
	ReadNodes bool
	// ReadServiceAccounts makes the operator get ServiceAccounts of workloads that get a pull
	// secret, which needs permission to get them.
	ReadServiceAccounts bool
	// RequiredObjects are objects of the installation chart that the operator depends on, each KIND/NAME, which needs
	// permission to get them.
	RequiredObjects []string
	// LeaderElect ensures that only one of several replicas writes.
	LeaderElect bool
	// LeaderElectionID is the name of the lease. Together with Namespace it identifies this
	// installation among others of the cluster, even without leader election.
	LeaderElectionID string
	// LeaseDuration is the time without a renewal after which another replica may lead. RenewDeadline is the time for
	// which the leader tries to renew before it steps down, and RetryPeriod the time between two tries. Zero stands for
	// the default.
	LeaseDuration, RenewDeadline, RetryPeriod time.Duration
	// MetricsBindAddress serves metrics over HTTPS; "0" to disable.
	MetricsBindAddress string
	// MetricsCertDir has tls.crt and tls.key for the metrics, which are reloaded when they change.
	// Empty for a self-signed certificate.
	MetricsCertDir string
	// HealthProbeBindAddress serves /healthz and /readyz; "0" to disable.
	HealthProbeBindAddress string
	// PprofBindAddress serves profiles of the process over plain HTTP without
	// authentication; "0" to disable.
	PprofBindAddress string
	// Webhook configures the admission webhook.
	Webhook WebhookOptions
	// LogLevel is the minimum level that is logged.
	LogLevel zapcore.Level
	// LogFormat is the format of the log.
	LogFormat telemetry.LogFormat

	arguments []string // the command line, parsed again when the file changes
}

// defaultLeaderElectionID is the default name of the lease.
const defaultLeaderElectionID = "vector-sidecar-operator"

// The defaults of leader election, which are the defaults of Kubernetes components.
const (
	defaultLeaseDuration = 15 * time.Second
	defaultRenewDeadline = 10 * time.Second
	defaultRetryPeriod   = 2 * time.Second
)

// DefaultConcurrency is the default number of VectorSidecars that are reconciled at the same time.
// With four, reconciling 500 namespaces waits for responses. More than eight are not faster.
const DefaultConcurrency = 8

// declareFlags adds the flags to a flag set.
func (o *Options) declareFlags(flags *flag.FlagSet) {
	flags.StringVar(&o.Config, "config", "", "YAML file with values for the other flags, by flag name; a change of log-level takes effect without a restart")
	flags.StringVar(&o.Namespace, "namespace", "", "operator namespace, which contains the lease and the installation's values")
	flags.Var((*list)(&o.WatchNamespaces), "watch-namespaces", "namespaces to watch, separated by commas; empty for all")
	o.WorkloadKinds = []string{workload.Default().Kind}
	flags.Var((*list)(&o.WorkloadKinds), "workload-kinds", "kinds of workloads to manage, separated by commas: "+strings.Join(kindNames(workload.Kinds()), ", "))
	flags.BoolVar(&o.ClusterSidecars, "cluster-sidecars", false, "serve ClusterVectorSidecars, which select namespaces; not with --watch-namespaces")
	flags.StringVar(&o.Environment, "environment", "development", "environment of a VectorSidecar if neither the VectorSidecar nor its namespace sets one")
	flags.StringVar(&o.EnvironmentsConfigMap, "environments-configmap", "", "name of the ConfigMap with the installation's values, with one key ENVIRONMENT.yaml for each environment")
	flags.IntVar(&o.Concurrency, "concurrency", DefaultConcurrency, "number of VectorSidecars that are reconciled at once, at most a quarter of them in one namespace")
	flags.DurationVar(&o.ReconcileInterval, "reconcile-interval", 30*time.Minute, "approximate interval at which every VectorSidecar is evaluated from scratch, without cached results; 0 for never")
	flags.BoolVar(&o.ValidationJobs, "validation-jobs", false, "allow sidecar.config.validateJob, which runs vector validate in a Job")
	flags.BoolVar(&o.ReadPods, "read-pods", false, "read the pods of workloads that are not ready, to report why they do not run; requires permission to list pods")
	flags.BoolVar(&o.Preflight, "preflight", false, "check a sidecar by dry runs of pods in each namespace before it is written there; requires permission to create pods and Secrets, and the chart's ValidatingAdmissionPolicy, which denies all requests except dry runs")
	flags.BoolVar(&o.AdmissionInjection, "admission-injection", false, "maintain an OverlaySet in each namespace with VectorSidecars, from which the API server injects into new workloads; requires the chart's MutatingAdmissionPolicies")
	flags.BoolVar(&o.ReadNodes, "read-nodes", false, "list the nodes every five minutes to find the oldest kubelet, which decides about native sidecars before Kubernetes 1.33; requires permission to list nodes")
	flags.BoolVar(&o.ReadServiceAccounts, "read-service-accounts", false, "for workloads that get a pull secret and do not list any, read the pull secrets of their ServiceAccount; requires permission to get ServiceAccounts")
	flags.Var((*list)(&o.RequiredObjects), "required-objects", "objects of the chart that the operator depends on, each KIND/NAME, separated by commas; the operator reports missing objects every five minutes; requires permission to get these objects")
	flags.BoolVar(&o.LeaderElect, "leader-elect", false, "use leader election, so that only one of several replicas is active")
	flags.StringVar(&o.LeaderElectionID, "leader-election-id", defaultLeaderElectionID, "name of the lease; with the namespace it identifies this installation on the workloads that it writes")
	flags.DurationVar(&o.LeaseDuration, "leader-election-lease-duration", defaultLeaseDuration, "time after the leader's last renewal when another replica may become the leader")
	flags.DurationVar(&o.RenewDeadline, "leader-election-renew-deadline", defaultRenewDeadline, "time for which the leader tries to renew its lease before it stops; less than the lease duration")
	flags.DurationVar(&o.RetryPeriod, "leader-election-retry-period", defaultRetryPeriod, "interval at which the leader renews its lease; less than the renew deadline")
	flags.StringVar(&o.MetricsBindAddress, "metrics-bind-address", "0", "address of the metrics endpoint (HTTPS); 0 to disable")
	flags.StringVar(&o.MetricsCertDir, "metrics-cert-dir", "", "directory with tls.crt and tls.key for the metrics endpoint, reloaded when they change; empty for a self-signed certificate")
	flags.StringVar(&o.HealthProbeBindAddress, "health-probe-bind-address", ":8081", "address of /healthz and /readyz; 0 to disable")
	flags.StringVar(&o.PprofBindAddress, "pprof-bind-address", "0", "address of /debug/pprof/ over HTTP; use a localhost address, because there is no authentication; 0 to disable")
	o.Webhook.declareFlags(flags)
	flags.Var((*level)(&o.LogLevel), "log-level", "DEBUG, INFO, WARN or ERROR")
	o.LogFormat = telemetry.FormatJSON
	flags.Var(&o.LogFormat, "log-format", "json, one object per line, or text")
}

// variables are the names of the environment variables that set flags, by flag name.
var variables = map[string]string{
	"namespace":                 "POD_NAMESPACE",
	"metrics-bind-address":      "METRICS_BIND_ADDRESS",
	"health-probe-bind-address": "HEALTH_PROBE_BIND_ADDRESS",
	"log-level":                 "LOG_LEVEL",
	"log-format":                "LOG_FORMAT",
}

// validate returns an error for values that the flag package does not check.
func (o *Options) validate() error {
	var findings []error
	find := func(format string, arguments ...any) { findings = append(findings, fmt.Errorf(format, arguments...)) }
	if o.Concurrency < 1 {
		find("--concurrency is %d: it must be at least 1", o.Concurrency)
	}
	if o.ReconcileInterval != 0 && o.ReconcileInterval < time.Second {
		find("--reconcile-interval is %s: it must be at least 1s, or 0 for never", o.ReconcileInterval)
	}
	for _, name := range o.WorkloadKinds {
		if workload.KindByName(name) == nil {
			find("--workload-kinds has %q: it must be one of %s", name, strings.Join(kindNames(workload.Kinds()), ", "))
		}
	}
	for _, text := range o.RequiredObjects {
		if _, err := source.ParseRequiredObject(text); err != nil {
			find("--required-objects: %w", err)
		}
	}
	if o.ClusterSidecars && len(o.WatchNamespaces) > 0 {
		findings = append(findings, errors.New("--cluster-sidecars is set with --watch-namespaces: a ClusterVectorSidecar needs an operator of the whole cluster"))
	}
	if o.Namespace == "" && (o.LeaderElect || o.EnvironmentsConfigMap != "") {
		findings = append(findings, errors.New("--namespace is empty: --leader-elect and --environments-configmap need it"))
	}
	findings = append(findings, o.Webhook.validate(o.Namespace)...)
	for _, name := range o.WatchNamespaces {
		if problems := validation.ValidateNamespaceName(name, false); len(problems) > 0 {
			find("--watch-namespaces has %q: %s", name, strings.Join(problems, "; "))
		}
	}
	if o.LeaseDuration < time.Second || o.LeaseDuration%time.Second != 0 {
		find("--leader-election-lease-duration is %s: it must be whole seconds, at least 1s", o.LeaseDuration)
	}
	if o.RenewDeadline >= o.LeaseDuration {
		find("--leader-election-renew-deadline is %s: it must be less than the lease duration, which is %s", o.RenewDeadline, o.LeaseDuration)
	}
	// The leader waits up to 1.2 times the period (JitterFactor of client-go).
	if o.RetryPeriod <= 0 || 6*o.RetryPeriod >= 5*o.RenewDeadline {
		find("--leader-election-retry-period is %s: it must be more than 0, and 1.2 times it must be less than the renew deadline, which is %s", o.RetryPeriod, o.RenewDeadline)
	}
	return errors.Join(findings...)
}

// kindNames returns the names of kinds of workloads.
func kindNames(kinds []*workload.Kind) []string {
	var names []string
	for _, kind := range kinds {
		names = append(names, kind.Kind)
	}
	return names
}

// kinds returns the enabled kinds of workloads: Deployments for an empty list.
func (o *Options) kinds() []*workload.Kind {
	if len(o.WorkloadKinds) == 0 {
		return []*workload.Kind{workload.Default()}
	}
	var served []*workload.Kind
	for _, name := range o.WorkloadKinds {
		served = append(served, workload.KindByName(name))
	}
	return served
}

// requiredObjects parses the objects of the installation chart that the operator depends on. validate has checked
// their syntax.
func (o *Options) requiredObjects() []source.RequiredObject {
	var required []source.RequiredObject
	for _, text := range o.RequiredObjects {
		if object, err := source.ParseRequiredObject(text); err == nil {
			required = append(required, object)
		}
	}
	return required
}

// list is the value of a flag that contains a comma-separated list.
type list []string

func (l *list) String() string { return strings.Join(*l, ",") }

// Set replaces the list. Duplicates count once.
func (l *list) Set(text string) error {
	*l = nil
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name != "" && !slices.Contains(*l, name) {
			*l = append(*l, name)
		}
	}
	return nil
}

// level is the value of a flag that contains a log level.
type level zapcore.Level

func (l *level) String() string { return zapcore.Level(*l).CapitalString() }

// Set parses one of the four levels at which the operator logs, in any case.
func (l *level) Set(text string) error {
	var parsed zapcore.Level
	if err := parsed.UnmarshalText([]byte(strings.ToLower(text))); err != nil || parsed > zapcore.ErrorLevel {
		return errors.New("the log level must be DEBUG, INFO, WARN or ERROR")
	}
	*l = level(parsed)
	return nil
}
