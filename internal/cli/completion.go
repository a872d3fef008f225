// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// kubectlCompletion is the program that kubectl calls to complete a plugin's command line.
const kubectlCompletion = `#!/bin/sh
# Save as kubectl_complete-vectorsidecar as an executable file in a directory of PATH.
exec kubectl vectorsidecar __complete "$@"
`

// newCompletion returns the command completion.
func newCompletion(a *app) *cobra.Command {
	scripts := map[string]func(*cobra.Command, io.Writer) error{
		"bash":       func(root *cobra.Command, w io.Writer) error { return root.GenBashCompletionV2(w, true) },
		"zsh":        func(root *cobra.Command, w io.Writer) error { return root.GenZshCompletion(w) },
		"fish":       func(root *cobra.Command, w io.Writer) error { return root.GenFishCompletion(w, true) },
		"powershell": func(root *cobra.Command, w io.Writer) error { return root.GenPowerShellCompletionWithDesc(w) },
		"kubectl": func(_ *cobra.Command, w io.Writer) error {
			_, err := io.WriteString(w, kubectlCompletion)
			return err
		},
	}
	names := []string{"kubectl", "bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use:   "completion {kubectl|bash|zsh|fish|powershell}",
		Short: "Print a completion script: for kubectl vectorsidecar, or for a shell",
		Long: `Print a completion script. The script for kubectl makes "kubectl vectorsidecar" complete commands,
flags and the names of workloads, VectorSidecars and environments, in every shell of kubectl. The
others complete kubectl-vectorsidecar.`,
		Example: `# complete kubectl vectorsidecar
kubectl vectorsidecar completion kubectl > kubectl_complete-vectorsidecar`,
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		ValidArgs: names,
		RunE: func(command *cobra.Command, arguments []string) error {
			if err := scripts[arguments[0]](command.Root(), a.Out); err != nil {
				return fmt.Errorf("writing the script: %w", err)
			}
			return nil
		},
	}
}
