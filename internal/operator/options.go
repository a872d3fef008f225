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
)

// Options configure the process. ParseOptions fills them in.
type Options struct {
	// Config is the path of the configuration file, empty for none.
	Config string
	// Namespace is the operator's own: it holds the lease and the values of
	// the installation.
	Namespace string
	// WatchNamespaces are those whose VectorSidecars are worked on. Empty for
	// all of the cluster.
	WatchNamespaces []string
	// Environment is the default one.
	Environment string
	// EnvironmentsConfigMap, in Namespace, holds the values that the
	// installation gave, one key ENVIRONMENT.yaml each. Empty for none.
	EnvironmentsConfigMap string
	// Concurrency is how many VectorSidecars are worked on at once.
	Concurrency int
	// ReconcileInterval is about how often every VectorSidecar is judged anew from the
	// cache, and LiveListInterval about how often the workloads are listed live and
	// compared with it. 0 for never.
	ReconcileInterval, LiveListInterval time.Duration
	// ValidationJobs lets VectorSidecars have Vector judge a configuration in a
	// Job.
	ValidationJobs bool
	// ReadPods has the operator look at the pods of workloads that are not settled,
	// which needs the right to list them.
	ReadPods bool
	// LeaderElect makes sure that one of several replicas writes.
	LeaderElect bool
	// LeaderElectionID is the name of the lease. With Namespace it names this
	// installation among others of the cluster, whether or not there is an election.
	LeaderElectionID string
	// LeaseDuration is how long after the leader's last sign of life another
	// takes over, RenewDeadline how long the leader tries to give one before it
	// steps down, and RetryPeriod how often. Zero for the defaults.
	LeaseDuration, RenewDeadline, RetryPeriod time.Duration
	// MetricsBindAddress serves metrics over HTTPS; "0" for nowhere.
	MetricsBindAddress string
	// MetricsCertDir holds tls.crt and tls.key of the metrics, read again when
	// they change. Empty for a certificate that the operator signs itself.
	MetricsCertDir string
	// HealthProbeBindAddress serves /healthz and /readyz; "0" for nowhere.
	HealthProbeBindAddress string
	// PprofBindAddress serves profiles of the process over plain HTTP, to
	// whoever reaches it; "0" for nowhere.
	PprofBindAddress string
	// Webhook is how VectorSidecars are judged at admission.
	Webhook WebhookOptions
	// LogLevel is the least level that is logged.
	LogLevel zapcore.Level

	arguments []string // the command line, to be read again with the file
}

const defaultLeaderElectionID = "vector-sidecar-operator"

// The defaults of leader election, which are those of Kubernetes' own components.
const (
	defaultLeaseDuration = 15 * time.Second
	defaultRenewDeadline = 10 * time.Second
	defaultRetryPeriod   = 2 * time.Second
)

// declare adds the flags to a set. Where a value may come from a variable of the
// environment, variables names it.
func (o *Options) declare(flags *flag.FlagSet) {
	flags.StringVar(&o.Config, "config", "", "YAML file with values for the other flags, by their names; log-level follows a change of the file at once")
	flags.StringVar(&o.Namespace, "namespace", "", "namespace of the operator itself: of its lease and of the installation's values")
	flags.Var((*list)(&o.WatchNamespaces), "watch-namespaces", "namespaces to work in, separated by commas; empty for all")
	flags.StringVar(&o.Environment, "environment", "development", "environment of VectorSidecars that name none and whose namespace names none")
	flags.StringVar(&o.EnvironmentsConfigMap, "environments-configmap", "", "name of the ConfigMap with the installation's values, a key ENVIRONMENT.yaml for each environment")
	flags.IntVar(&o.Concurrency, "concurrency", 4, "how many VectorSidecars are worked on at once")
	flags.DurationVar(&o.ReconcileInterval, "reconcile-interval", 30*time.Minute, "about how often every VectorSidecar is judged from the cache with nothing remembered; 0 for never")
	flags.DurationVar(&o.LiveListInterval, "live-list-interval", 24*time.Hour, "about how often the workloads are listed live and compared with the cache; 0 for never")
	flags.BoolVar(&o.ValidationJobs, "validation-jobs", false, "allow sidecar.config.validateJob, which runs vector validate in a Job")
	flags.BoolVar(&o.ReadPods, "read-pods", false, "look at the pods of workloads that are not settled for what keeps them from running, which needs the right to list pods")
	flags.BoolVar(&o.LeaderElect, "leader-elect", false, "elect a leader among several replicas")
	flags.StringVar(&o.LeaderElectionID, "leader-election-id", defaultLeaderElectionID, "name of the lease; with the namespace it names this installation on the workloads that it writes to")
	flags.DurationVar(&o.LeaseDuration, "leader-election-lease-duration", defaultLeaseDuration, "how long after the leader's last renewal another operator takes over")
	flags.DurationVar(&o.RenewDeadline, "leader-election-renew-deadline", defaultRenewDeadline, "how long the leader tries to renew its lease before it steps down; less than the lease duration")
	flags.DurationVar(&o.RetryPeriod, "leader-election-retry-period", defaultRetryPeriod, "how often the leader renews its lease; less than the renew deadline")
	flags.StringVar(&o.MetricsBindAddress, "metrics-bind-address", "0", "address of the metrics over HTTPS, 0 for none")
	flags.StringVar(&o.MetricsCertDir, "metrics-cert-dir", "", "folder with tls.crt and tls.key for the metrics, followed when they change; empty for a self-signed certificate")
	flags.StringVar(&o.HealthProbeBindAddress, "health-probe-bind-address", ":8081", "address of /healthz and /readyz, 0 for none")
	flags.StringVar(&o.PprofBindAddress, "pprof-bind-address", "0", "address of /debug/pprof/ over HTTP, without authentication and so for localhost; 0 for none")
	o.Webhook.declare(flags)
	flags.Var((*level)(&o.LogLevel), "log-level", "DEBUG, INFO, WARN or ERROR")
}

// variables are the environment variables that stand in for a flag that is not
// given, by the name of the flag.
var variables = map[string]string{
	"namespace":                 "POD_NAMESPACE",
	"metrics-bind-address":      "METRICS_BIND_ADDRESS",
	"health-probe-bind-address": "HEALTH_PROBE_BIND_ADDRESS",
	"log-level":                 "LOG_LEVEL",
}

// check finds what the flags package cannot.
func (o *Options) check() error {
	var findings []error
	find := func(format string, arguments ...any) { findings = append(findings, fmt.Errorf(format, arguments...)) }
	if o.Concurrency < 1 {
		find("--concurrency is %d: it must be at least 1", o.Concurrency)
	}
	for name, interval := range map[string]time.Duration{"reconcile": o.ReconcileInterval, "live-list": o.LiveListInterval} {
		if interval != 0 && interval < time.Second {
			find("--%s-interval is %s: it must be at least 1s, or 0 for never", name, interval)
		}
	}
	if o.Namespace == "" && (o.LeaderElect || o.EnvironmentsConfigMap != "") {
		findings = append(findings, errors.New("--namespace is empty: --leader-elect and --environments-configmap need it"))
	}
	findings = append(findings, o.Webhook.check(o.Namespace)...)
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
	// The leader waits up to 1.2 times the period (client-go's JitterFactor).
	if o.RetryPeriod <= 0 || 6*o.RetryPeriod >= 5*o.RenewDeadline {
		find("--leader-election-retry-period is %s: it must be more than 0, and 1.2 times of it less than the renew deadline, which is %s", o.RetryPeriod, o.RenewDeadline)
	}
	return errors.Join(findings...)
}

// list is a flag whose value is a list separated by commas.
type list []string

func (l *list) String() string { return strings.Join(*l, ",") }

// Set takes the place of what was there. Names that stand twice count once.
func (l *list) Set(text string) error {
	*l = nil
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name != "" && !slices.Contains(*l, name) {
			*l = append(*l, name)
		}
	}
	return nil
}

// level is a flag whose value is a log level.
type level zapcore.Level

func (l *level) String() string { return zapcore.Level(*l).CapitalString() }

// Set reads one of the four levels that the operator logs at, in any case.
func (l *level) Set(text string) error {
	var parsed zapcore.Level
	if err := parsed.UnmarshalText([]byte(strings.ToLower(text))); err != nil || parsed > zapcore.ErrorLevel {
		return errors.New("it must be DEBUG, INFO, WARN or ERROR")
	}
	*l = level(parsed)
	return nil
}
