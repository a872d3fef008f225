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
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
)

// interval is how often a check that does not pass is tried again.
const interval = time.Second

// TestOptions say what there should be. ParseTestOptions fills them in.
type TestOptions struct {
	// Namespace is that of the operator.
	Namespace string
	// WatchNamespaces are those it works in; empty for all.
	WatchNamespaces []string
	// Lease that somebody should hold. Empty: there is no election.
	Lease string
	// MetricsURL is where metrics should be served. Empty: nowhere.
	MetricsURL string
	// Timeout is how long a new installation may take to get there.
	Timeout time.Duration
}

// ParseTestOptions reads the command line. The error is flag.ErrHelp when help was
// asked for and printed.
func ParseTestOptions(arguments []string) (TestOptions, error) {
	var options TestOptions
	var namespaces string
	flags := flag.NewFlagSet("operator test", flag.ContinueOnError)
	flags.StringVar(&options.Namespace, "namespace", os.Getenv("POD_NAMESPACE"), "namespace of the operator (POD_NAMESPACE)")
	flags.StringVar(&namespaces, "watch-namespaces", "", "namespaces it works in, separated by commas; empty for all")
	flags.StringVar(&options.Lease, "lease", "", "Lease that one of the operators should hold; empty for no election")
	flags.StringVar(&options.MetricsURL, "metrics-url", "", "where the metrics should be; empty for nowhere")
	flags.DurationVar(&options.Timeout, "timeout", time.Minute, "how long it may take until all is as it should be")
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

// check is one thing to look at.
type check struct {
	what string
	pass func(context.Context) error
}

// Test tries all checks until each has passed once, and says so in a line each. The
// error names the first that does not pass in time, and why.
func Test(ctx context.Context, config *rest.Config, options TestOptions, progress io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, options.Timeout)
	defer cancel()
	checks, err := checksOf(config, options)
	if err != nil {
		return err
	}
	for _, c := range checks {
		if err := until(ctx, c.pass); err != nil {
			return fmt.Errorf("%s: %w", c.what, err)
		}
		if _, err := fmt.Fprintln(progress, "ok:", c.what); err != nil {
			return err
		}
	}
	return nil
}

// until tries until there is no error or no time, and then returns the last error.
func until(ctx context.Context, pass func(context.Context) error) error {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	var last error
	for {
		err := pass(ctx)
		if err == nil {
			return nil
		}
		if last == nil || ctx.Err() == nil {
			last = err // Not that time ran out in the middle.
		}
		select {
		case <-ctx.Done():
			return last
		case <-ticker.C:
		}
	}
}

func checksOf(config *rest.Config, options TestOptions) ([]check, error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(v1alpha1.AddToScheme(scheme), coordinationv1.AddToScheme(scheme)); err != nil {
		return nil, fmt.Errorf("registering types: %w", err)
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	checks := []check{{"VectorSidecars are served", func(ctx context.Context) error { return served(ctx, c, options.WatchNamespaces) }}}
	if options.Lease != "" {
		name := types.NamespacedName{Namespace: options.Namespace, Name: options.Lease}
		checks = append(checks, check{"an operator leads", func(ctx context.Context) error { return led(ctx, c, name, time.Now) }})
	}
	if options.MetricsURL != "" {
		checks = append(checks,
			check{"metrics are refused to strangers", func(ctx context.Context) error { return refused(ctx, options.MetricsURL) }},
			check{"metrics are served to those who may", func(ctx context.Context) error { return measured(ctx, config, options.MetricsURL) }})
	}
	return checks, nil
}

func served(ctx context.Context, c client.Client, namespaces []string) error {
	if len(namespaces) == 0 {
		namespaces = []string{""}
	}
	for _, namespace := range namespaces {
		if err := c.List(ctx, &v1alpha1.VectorSidecarList{}, client.InNamespace(namespace), client.Limit(1)); err != nil {
			return err
		}
	}
	return nil
}

// led finds a holder of a Lease that has renewed it in time.
func led(ctx context.Context, c client.Client, name types.NamespacedName, now func() time.Time) error {
	var lease coordinationv1.Lease
	if err := c.Get(ctx, name, &lease); err != nil {
		return err
	}
	spec := lease.Spec
	if spec.HolderIdentity == nil || *spec.HolderIdentity == "" || spec.RenewTime == nil || spec.LeaseDurationSeconds == nil {
		return fmt.Errorf("nobody holds Lease %s: look at the operator's pods", name)
	}
	over := spec.RenewTime.Add(time.Duration(*spec.LeaseDurationSeconds) * time.Second)
	if now().After(over) {
		return fmt.Errorf("%s holds Lease %s and has not renewed it since %s: look at the operator's pods", *spec.HolderIdentity, name, spec.RenewTime.Format(time.RFC3339))
	}
	return nil
}
