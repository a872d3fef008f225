// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"slices"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// completeEnvironments completes the names of the sidecar chart's environments.
func (s *inputs) completeEnvironments(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	chart, err := s.chart()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	loaded, err := render.LoadChart(chart)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return loaded.Environments.Names(), cobra.ShellCompDirectiveNoFileComp
}

// completeManifests completes files of the types that manifests have.
func completeManifests(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"yaml", "yml", "json"}, cobra.ShellCompDirectiveFilterFileExt
}

// completeWorkloads completes the workloads of the namespace.
func (s *inputs) completeWorkloads(command *cobra.Command, given []string, _ string) ([]string, cobra.ShellCompDirective) {
	return s.app.completeNames(command, given, workload.Default().ListKind())
}

// completeSidecars completes the VectorSidecars of the namespace.
func (a *app) completeSidecars(command *cobra.Command, given []string, _ string) ([]string, cobra.ShellCompDirective) {
	return a.completeNames(command, given, v1alpha1.GroupVersion.WithKind("VectorSidecarList"))
}

func (a *app) completeNames(command *cobra.Command, given []string, kind schema.GroupVersionKind) ([]string, cobra.ShellCompDirective) {
	cluster, err := a.connect()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	namespace, err := a.current()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(kind)
	if err := cluster.List(command.Context(), list, client.InNamespace(namespace)); err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var names []string
	for i := range list.Items {
		if name := list.Items[i].Name; !slices.Contains(given, name) {
			names = append(names, name)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
