// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package cli is the kubectl plugin's commands: read files, decide with the
// operator's own code, print. Data goes to the standard output and everything
// else to the standard error. It changes no cluster.
package cli

import (
	"io/fs"

	"github.com/spf13/cobra"
)

// New returns the plugin's root command. chart is the sidecar chart that is
// rendered unless another one is given.
func New(chart fs.FS, version string) *cobra.Command {
	root := &cobra.Command{
		Use:           "kubectl-vectorsidecar",
		Short:         "See what the Vector Sidecar Operator does, without letting it",
		Version:       version,
		SilenceUsage:  true,
		SilenceErrors: true,
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl vectorsidecar"},
	}
	root.AddCommand(newRender(chart))
	return root
}
