// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/lint"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
	vectoroptions "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/options"
)

// lintOptions are the flags of lint.
type lintOptions struct {
	inputs *inputs

	vectorVersion string
	explain       bool
	together      bool
	findings      findingsOutput
}

// newLint returns the command lint.
func newLint(a *app) *cobra.Command {
	options := lintOptions{inputs: &inputs{app: a}}
	command := &cobra.Command{
		Use:   "lint FILE|DIRECTORY...",
		Short: "Check values, templates, VectorSidecars and Vector configuration",
		Long: `Check values files of helm install with their template sets, sidecar charts, VectorSidecars with
their workloads and ConfigMaps, and Vector configuration. Directories are read recursively.

Values are validated against their template set, and rendered in every environment with every source
of events and every sink that has a preset. Unused defines are reported, also those of --templates. A
VectorSidecar is validated against its CustomResourceDefinition, as by the API server. --explain CODE
explains the code of a finding.

A comment on a finding's line, or alone on the line above, ignores it. A comment that lacks the
reason, or does not ignore a finding, is itself a finding.

    # vectorsidecar: ignore VSC215 because the collector of the team reads it

A values file is checked if --values names it, its chart is that of the sidecar or the operator, it
has the map sidecar or environments, or it is named values*.yaml outside of charts. Skipped files are
listed with the reason.

The exit code is 1 with findings, and 2 without a file to check.`,
		Example: `# a directory of samples
kubectl vectorsidecar lint docs/samples
# values and templates of a sidecar chart, for a pipeline
kubectl vectorsidecar lint . values/production.yaml -o junit
# for code scanning, and for the version of Vector that comes next
kubectl vectorsidecar lint docs/samples -o sarif --vector-version 0.57.0
# one Vector configuration in several files
kubectl vectorsidecar lint --together vector/
# the meaning of a code
kubectl vectorsidecar lint --explain VSC304`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(command *cobra.Command, arguments []string) error {
			if options.explain {
				return explainCodes(command, arguments)
			}
			return options.run(command.Context(), arguments)
		},
	}
	flags := command.Flags()
	options.inputs.addRenderFlags(flags, fileDefaults)
	flags.StringVar(&options.vectorVersion, "vector-version", "", "version of Vector, such as 0.57.0; it replaces the version of the image tags in VectorSidecars, and defines that of Vector configuration")
	flags.BoolVar(&options.together, "together", false, "check all files of Vector configuration as one configuration, and read directories as Vector reads those of --config-dir")
	flags.BoolVar(&options.explain, "explain", false, "explain codes and reasons, which are the arguments instead of files")
	options.findings = newFindingsOutput(a, command, "file")
	return command
}

// run checks the files in the arguments and prints the findings. The error contains the exit code if there are
// findings.
func (o *lintOptions) run(ctx context.Context, arguments []string) error {
	if err := o.findings.output.check(); err != nil {
		return err
	}
	if o.vectorVersion != "" {
		if _, err := vectoroptions.ParseMinor(o.vectorVersion); err != nil {
			return fmt.Errorf("--vector-version: %w", err)
		}
	}
	if err := requireOneStdin(arguments, o.inputs.values.files); err != nil {
		return err
	}
	o.inputs.environment, o.inputs.kubeVersion = cmp.Or(o.inputs.environment, defaultEnvironment), cmp.Or(o.inputs.kubeVersion, defaultKubeVersion)
	linter, err := o.newLinter(ctx)
	if err != nil {
		return err
	}
	var files []lint.File
	result, charts := &lint.Result{}, map[string]bool{}
	if o.inputs.templates != "" {
		charts[filepath.Clean(o.inputs.templates)] = true
	}
	for _, argument := range arguments {
		collected, err := o.inputs.app.collectFiles(argument, o.inputs.values.files...)
		if err != nil {
			return err
		}
		files = append(files, collected.files...)
		result.Skipped = append(result.Skipped, collected.skipped...)
		for _, chart := range collected.charts {
			charts[chart] = true
		}
	}
	for _, chart := range slices.Sorted(maps.Keys(charts)) {
		ofChart, err := o.lintChart(ctx, linter, chart)
		if err != nil {
			return err
		}
		result.Linted += ofChart.Linted
		result.Findings, result.Notes = append(result.Findings, ofChart.Findings...), append(result.Notes, ofChart.Notes...)
	}
	ofFiles, err := linter.Lint(ctx, files)
	if err != nil {
		return err
	}
	ofFiles.Linted += result.Linted
	ofFiles.Findings = append(result.Findings, ofFiles.Findings...)
	ofFiles.Skipped, ofFiles.Notes = append(result.Skipped, ofFiles.Skipped...), append(result.Notes, ofFiles.Notes...)
	if err := o.findings.print(ofFiles); err != nil {
		return err
	}
	switch {
	case len(ofFiles.Findings) > 0:
		return &foundError{}
	case ofFiles.Linted == 0 && !slices.ContainsFunc(ofFiles.Skipped, func(s lint.SkippedFile) bool { return s.Chart != "" }): // Success would hide that nothing was checked.
		return errors.New("no file was checked: name files with objects, values or Vector configuration")
	}
	return nil
}

// lintChart lints a directory of templates.
func (o *lintOptions) lintChart(ctx context.Context, linter *lint.Linter, name string) (*lint.Result, error) {
	directory, err := openFolder(name)
	if err != nil {
		return nil, err
	}
	chart := directory
	if filepath.Clean(o.inputs.templates) == name {
		if chart, err = o.inputs.openChart(); err != nil {
			return nil, err
		}
	}
	return linter.LintChart(ctx, &lint.Folder{Name: name, Files: directory, Chart: chart, BuiltIn: o.inputs.app.builtin.Chart})
}

// newLinter returns a linter with the chart and the values that the flags name. It returns an error if they cannot be
// read.
func (o *lintOptions) newLinter(ctx context.Context) (*lint.Linter, error) {
	files, err := o.inputs.openChart()
	if err != nil {
		return nil, err
	}
	values, err := o.inputs.readValues(ctx, o.inputs.environment, defaultEnvironment)
	if err != nil {
		return nil, err
	}
	installation := &source.Installation{}
	platform, _, err := o.inputs.loadPlatform(ctx, files, nil, installation, values)
	if err != nil {
		return nil, err
	}
	installed := func(ctx context.Context, file lint.File) (*desired.InstallationValues, *desired.Platform, error) {
		written, refused := desired.ReadInstallationValues(ctx, o.inputs.app.builtin.Chart, file.Name, file.Text, o.inputs.environment, defaultEnvironment)
		if written == nil {
			return nil, nil, refused
		}
		filePlatform, _, err := o.inputs.loadPlatform(ctx, files, nil, withSets(installation, values), written)
		if err != nil {
			return written, nil, err
		}
		return written, filePlatform, refused
	}
	return &lint.Linter{
		Settings:  desired.Settings{DefaultEnvironment: o.inputs.environment, KubeVersion: o.inputs.kubeVersion, OldestKubelet: o.inputs.kubelet(), Cluster: o.inputs.ofCluster.mergeInto(render.Cluster{})},
		Installed: installed, Definitions: o.inputs.app.builtin.definitionFor, Platform: platform, VectorVersion: o.vectorVersion, IsTogether: o.together,
	}, nil
}

// linted are the extensions of the files in directories that lint reads.
var linted = []string{".yaml", ".yml", ".json", ".toml"}

// isLintedFile reports whether a file has an extension that lint reads.
func isLintedFile(name string) bool { return slices.Contains(linted, filepath.Ext(name)) }
