// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// completeEnvironments completes the names of the sidecar chart's environments.
func (s *inputs) completeEnvironments(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	chart, err := s.openChart()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	loaded, err := render.LoadChart(chart)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return loaded.Environments.Names(), cobra.ShellCompDirectiveNoFileComp
}

// completeManifests completes files with the extensions of manifests.
func completeManifests(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"yaml", "yml", "json"}, cobra.ShellCompDirectiveFilterFileExt
}

// completeWorkloads completes the workloads of the namespace.
func (s *inputs) completeWorkloads(command *cobra.Command, arguments []string, _ string) ([]string, cobra.ShellCompDirective) {
	return s.app.completeNames(command, arguments, workload.Default().GroupVersionKind)
}

// completeSidecars completes the VectorSidecars of the namespace.
func (a *app) completeSidecars(command *cobra.Command, arguments []string, _ string) ([]string, cobra.ShellCompDirective) {
	return a.completeNames(command, arguments, v1alpha1.GroupVersion.WithKind("VectorSidecar"))
}

// completeNames completes the names of the objects of a kind in the namespace, without the names that are already on
// the command line.
func (a *app) completeNames(command *cobra.Command, arguments []string, kind schema.GroupVersionKind) ([]string, cobra.ShellCompDirective) {
	cluster, err := a.connect()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	namespace, err := a.currentNamespace()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	names, err := livelist.Collect(command.Context(), livelist.New(cluster), livelist.Metadata(kind), func(object client.Object) (string, bool) {
		return object.GetName(), !slices.Contains(arguments, object.GetName())
	}, client.InNamespace(namespace))
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
