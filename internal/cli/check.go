// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/checkup"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
)

// checkOptions are the flags of check.
type checkOptions struct {
	app *app

	operatorNamespace string
	output            *format
}

// newCheck returns the command check.
func newCheck(a *app) *cobra.Command {
	options := checkOptions{app: a}
	command := &cobra.Command{
		Use:   "check",
		Short: "Check the cluster and the installation",
		Long: `Check the cluster and the installation: Kubernetes version, CustomResourceDefinition, replicas,
values and permissions of the operator, admission webhook, other injectors, VectorSidecars with errors
or declared in the values, and leftover sidecars. The check of permissions impersonates the operator's
ServiceAccount; the check of the webhook's certificate reads its Secret.

The exit code is 1 if a check failed. Otherwise it is 2 if a check could not run.`,
		Example: `# the whole cluster
kubectl vectorsidecar check`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error { return options.run(command.Context()) },
	}
	command.Flags().StringVar(&options.operatorNamespace, "operator-namespace", "", "namespace of the operator, if you may not list all namespaces")
	options.output = addFormat(command, "json", "yaml")
	a.addClusterFlags(command.Flags())
	return command
}

// run runs the checks and prints their results. The error is a *foundError if a check failed, and another error if a
// check could not run.
func (o *checkOptions) run(ctx context.Context) error {
	if err := o.output.check(); err != nil {
		return err
	}
	catalog, err := newCatalog(o.app.chart)
	if err != nil {
		return err
	}
	cluster, err := o.app.connect()
	if err != nil {
		return err
	}
	discovery, err := o.app.kube.ToDiscoveryClient()
	if err != nil {
		return fmt.Errorf("getting the API server's version: %w", err)
	}
	version, err := discovery.ServerVersion()
	if err != nil {
		return fmt.Errorf("getting the API server's version: %w", err)
	}
	diagnosis := checkup.Diagnosis{
		Cluster: cluster, AsOperator: o.newImpersonatedClient, Catalog: catalog,
		KubeVersion: version.GitVersion, OldestKubelet: o.app.oldestKubelet, Now: o.app.clock.Now, OperatorNamespace: o.operatorNamespace,
		Reject: o.app.builtin.rejectionReason,
	}
	results := diagnosis.Run(ctx)
	if err := o.print(results); err != nil {
		return err
	}
	states := map[checkup.State]int{}
	for _, result := range results {
		states[result.State]++
	}
	switch unknownCount := states[checkup.Unknown]; {
	case states[checkup.Failed] > 0:
		return &foundError{}
	case unknownCount > 0:
		return fmt.Errorf("%d of %d checks could not run; run the command as a user with more permissions", unknownCount, len(results))
	}
	return nil
}

// newImpersonatedClient returns a client that makes its requests as another user.
func (o *checkOptions) newImpersonatedClient(user string) (client.Client, error) {
	config, err := o.app.restConfig()
	if err != nil {
		return nil, err
	}
	config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: []string{"system:serviceaccounts", "system:authenticated"}}
	return client.New(config, client.Options{})
}

// print prints the results as a list with colors, or as JSON or YAML.
func (o *checkOptions) print(results []checkup.Result) error {
	if o.output.isTree() {
		return o.output.print(o.app.Out, results)
	}
	paint := painterFor(o.app.Out)
	colors := map[checkup.State]string{checkup.OK: green, checkup.Warning: yellow, checkup.Unknown: yellow, checkup.Failed: red}
	for _, result := range results {
		err := errors.Join(
			paint.paint(colors[result.State], fmt.Sprintf("%-8s", result.State)),
			humanize.Fprintf(o.app.Out, "%s: %s\n", result.Check, result.Message))
		if result.Help != "" {
			err = errors.Join(err, humanize.Fprintf(o.app.Out, "        %s\n", result.Help))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
