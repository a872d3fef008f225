// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"kontroloop.ai/vector-sidecar-operator/internal/render"
)

// versions are the versions of the program and of its built-in templates.
type versions struct {
	Version   string `json:"version"`
	GoVersion string `json:"goVersion"`
	Platform  string `json:"platform"`
	Templates string `json:"templates"`
}

// newVersion returns the command version.
func newVersion(a *app) *cobra.Command {
	var output *format
	command := &cobra.Command{
		Use:   "version",
		Short: "Print the version of this program and of its built-in templates",
		Example: `# for a script
kubectl vectorsidecar version -o json`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := output.check(); err != nil {
				return err
			}
			chart, err := render.LoadChart(a.chart)
			if err != nil {
				return err
			}
			info := versions{
				Version: a.version, GoVersion: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
				Templates: "sha256:" + chart.Digest,
			}
			if output.isTree() {
				return output.print(a.Out, info)
			}
			_, err = fmt.Fprintf(a.Out, "version %s, %s, %s, templates %s\n", info.Version, info.GoVersion, info.Platform, info.Templates)
			return err
		},
	}
	output = addFormat(command, "json", "yaml")
	return command
}
