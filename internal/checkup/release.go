// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package checkup

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
)

// interval is how often a failed check is retried.
const interval = time.Second

// TestOptions contains the expected state of the installation. ParseTestOptions fills it in.
type TestOptions struct {
	// Namespace is the operator namespace.
	Namespace string
	// WatchNamespaces are the namespaces that the operator watches; empty for all.
	WatchNamespaces []string
	// ClusterSidecars is true if the operator serves ClusterVectorSidecars.
	ClusterSidecars bool
	// Lease is the name of the Lease that a replica should hold; empty without leader election.
	Lease string
	// MetricsURL is the expected address of the metrics; empty if metrics are disabled.
	MetricsURL string
	// Timeout is the time limit for a new installation to become healthy.
	Timeout time.Duration
}

// ParseTestOptions parses the command line. The error is flag.ErrHelp if help was requested
// and printed.
func ParseTestOptions(arguments []string) (TestOptions, error) {
	var options TestOptions
	var namespaces string
	flags := flag.NewFlagSet("operator test", flag.ContinueOnError)
	flags.StringVar(&options.Namespace, "namespace", os.Getenv("POD_NAMESPACE"), "namespace of the operator (POD_NAMESPACE)")
	flags.StringVar(&namespaces, "watch-namespaces", "", "namespaces that the operator watches, separated by commas; empty for all")
	flags.BoolVar(&options.ClusterSidecars, "cluster-sidecars", false, "ClusterVectorSidecars should also be served")
	flags.StringVar(&options.Lease, "lease", "", "Lease that one of the replicas must own; empty without leader election")
	flags.StringVar(&options.MetricsURL, "metrics-url", "", "URL of the metrics; empty if they are disabled")
	flags.DurationVar(&options.Timeout, "timeout", time.Minute, "maximum time until all checks pass")
	if err := flags.Parse(arguments); err != nil {
		return options, err
	}
	if flags.NArg() > 0 {
		return options, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if namespaces != "" {
		options.WatchNamespaces = strings.Split(namespaces, ",")
	}
	return options, nil
}

// check is a single check.
type check struct {
	name string
	run  func(context.Context) error
}

// Test repeats each check until it passes, and prints a line for it. The error names the first check that does not
// pass in time, and the reason.
func Test(ctx context.Context, config *rest.Config, options TestOptions, progress io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, options.Timeout)
	defer cancel()
	checks, err := newChecks(config, options)
	if err != nil {
		return err
	}
	for _, c := range checks {
		if err := retryUntilSuccess(ctx, c.run); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		if _, err := fmt.Fprintln(progress, "ok:", c.name); err != nil {
			return err
		}
	}
	return nil
}

// retryUntilSuccess retries a check until it passes or the context ends, and then returns the last error.
func retryUntilSuccess(ctx context.Context, run func(context.Context) error) error {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	var lastErr error
	for {
		err := run(ctx)
		if err == nil {
			return nil
		}
		if lastErr == nil || ctx.Err() == nil {
			lastErr = err // The error of the expired context would hide the cause.
		}
		select {
		case <-ctx.Done():
			return lastErr
		case <-ticker.C:
		}
	}
}

// newChecks returns the checks for the options, in the order in which they run.
func newChecks(config *rest.Config, options TestOptions) ([]check, error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(v1alpha1.AddToScheme(scheme), coordinationv1.AddToScheme(scheme)); err != nil {
		return nil, fmt.Errorf("registering types: %w", err)
	}
	limited := rest.CopyConfig(config)
	livelist.LimitResponses(limited)
	c, err := client.New(limited, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("creating a client: %w", err)
	}
	live := livelist.New(c)
	checks := []check{{"VectorSidecars are served", func(ctx context.Context) error { return checkNamespacesServed(ctx, live, options.WatchNamespaces) }}}
	if options.ClusterSidecars {
		checks = append(checks, check{"ClusterVectorSidecars are served", func(ctx context.Context) error {
			return isServed(ctx, live, "ClusterVectorSidecar", metav1.NamespaceAll)
		}})
	}
	if options.Lease != "" {
		name := types.NamespacedName{Namespace: options.Namespace, Name: options.Lease}
		checks = append(checks, check{"an operator owns the Lease", func(ctx context.Context) error { return checkLeader(ctx, c, name, time.Now) }})
	}
	if options.MetricsURL != "" {
		checks = append(checks,
			check{"metrics are denied without a token", func(ctx context.Context) error { return checkAnonymousRejected(ctx, options.MetricsURL) }},
			check{"metrics are served to authorized clients", func(ctx context.Context) error { return checkMetricsServed(ctx, config, options.MetricsURL) }})
	}
	return checks, nil
}

// checkNamespacesServed returns an error if VectorSidecars cannot be listed in one of the namespaces, or in the
// cluster for none.
func checkNamespacesServed(ctx context.Context, live *livelist.Client, namespaces []string) error {
	if len(namespaces) == 0 {
		namespaces = []string{""}
	}
	for _, namespace := range namespaces {
		if err := isServed(ctx, live, "VectorSidecar", namespace); err != nil {
			return err
		}
	}
	return nil
}

// checkLeader checks that a Lease has a holder and was renewed in time.
func checkLeader(ctx context.Context, c client.Client, name types.NamespacedName, now func() time.Time) error {
	var lease coordinationv1.Lease
	if err := c.Get(ctx, name, &lease); err != nil {
		return err
	}
	spec := lease.Spec
	if spec.HolderIdentity == nil || *spec.HolderIdentity == "" || spec.RenewTime == nil || spec.LeaseDurationSeconds == nil {
		return fmt.Errorf("Lease %s has no holder; check the operator's pods", name) //nolint:staticcheck // A kind has a capital letter.
	}
	expiry := spec.RenewTime.Add(time.Duration(*spec.LeaseDurationSeconds) * time.Second)
	if now().After(expiry) {
		return fmt.Errorf("replica %s owns Lease %s, but has not renewed it since %s; check the operator's pods", *spec.HolderIdentity, name, spec.RenewTime.Format(time.RFC3339))
	}
	return nil
}
