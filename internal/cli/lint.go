// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/lint"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
	"kontroloop.ai/vector-sidecar-operator/internal/vectoroptions"
)

// lintOptions are the flags of lint.
type lintOptions struct {
	*inputs

	vectorVersion string
	explain       bool
	together      bool
	findings      findingsOutput
}

func newLint(a *app) *cobra.Command {
	options := lintOptions{inputs: &inputs{app: a}}
	command := &cobra.Command{
		Use:   "lint FILE|FOLDER...",
		Short: "Find what is wrong in values, templates, VectorSidecars and Vector configuration",
		Long: `Find what is wrong in values files as given to helm install with the template sets in them,
sidecar charts, VectorSidecars with their workloads and ConfigMaps, and Vector configuration.
Values are held against the template set that they are for. Folders are read recursively. Each
finding has a code, a place and a line of help; --explain CODE tells what a code means. A
VectorSidecar is also held against its CustomResourceDefinition, its rules included, as the
API server does.

A comment on a finding's line, or alone on the line above, ignores it. It names the codes and
the reason. One without a reason, or that ignores nothing, is itself a finding.

    # vectorsidecar: ignore VSC215 because the collector of the team reads it

The exit code is 0 if there are no findings, 1 if there are, and 2 if it could not look, or found
no file to look at.`,
		Example: `# a folder of samples
kubectl vectorsidecar lint docs/samples
# values and templates of a sidecar chart, for a pipeline
kubectl vectorsidecar lint . values/production.yaml -o junit
# for code scanning, and for the version of Vector that comes next
kubectl vectorsidecar lint docs/samples -o sarif --vector-version 0.57.0
# one Vector configuration in several files
kubectl vectorsidecar lint --together vector/
# what a code means
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
	options.addRenderFlags(flags, fileDefaults)
	flags.StringVar(&options.vectorVersion, "vector-version", "", "version of Vector, such as 0.57.0, in place of the one that images of VectorSidecars tell; a Vector configuration tells none")
	flags.BoolVar(&options.together, "together", false, "check all files of Vector configuration as one configuration, and read folders as Vector reads those of --config-dir")
	flags.BoolVar(&options.explain, "explain", false, "print what codes and reasons mean, which are given in place of files")
	options.findings = findingsOutputOf(a, command, "file")
	return command
}

func (o *lintOptions) run(ctx context.Context, arguments []string) error {
	if err := o.findings.output.check(); err != nil {
		return err
	}
	if o.vectorVersion != "" {
		if _, err := vectoroptions.ParseMinor(o.vectorVersion); err != nil {
			return fmt.Errorf("--vector-version: %w", err)
		}
	}
	if err := readOnce(arguments, o.values.files); err != nil {
		return err
	}
	o.environment, o.kubeVersion = cmp.Or(o.environment, defaultEnvironment), cmp.Or(o.kubeVersion, defaultKubeVersion)
	linter, err := o.linter(ctx)
	if err != nil {
		return err
	}
	var files []lint.File
	result := &lint.Result{}
	for _, argument := range arguments {
		found, charts, err := o.app.collect(argument)
		if err != nil {
			return err
		}
		files = append(files, found...)
		for _, chart := range charts {
			folder, err := openFolder(chart)
			if err != nil {
				return err
			}
			findings, err := lint.Chart(ctx, chart, folder, o.kubeVersion)
			if err != nil {
				return err
			}
			result.Linted++
			result.Findings = append(result.Findings, findings...)
		}
	}
	ofFiles, err := linter.Lint(ctx, files)
	if err != nil {
		return err
	}
	ofFiles.Linted += result.Linted
	ofFiles.Findings = append(result.Findings, ofFiles.Findings...)
	if err := o.findings.print(ofFiles); err != nil {
		return err
	}
	switch {
	case len(ofFiles.Findings) > 0:
		return &foundError{}
	case ofFiles.Linted == 0: // That would look like success.
		return errors.New("no file was checked: name files with objects, values or Vector configuration")
	}
	return nil
}

// linter returns a linter for the chart and values that the flags name.
func (o *lintOptions) linter(ctx context.Context) (*lint.Linter, error) {
	files, err := o.chart()
	if err != nil {
		return nil, err
	}
	values, err := o.givenValues(ctx, o.environment, defaultEnvironment)
	if err != nil {
		return nil, err
	}
	installation := &source.Installation{}
	given, _, err := o.platform(ctx, files, nil, installation, values)
	if err != nil {
		return nil, err
	}
	installed := func(ctx context.Context, file lint.File) (*desired.InstallationValues, *desired.Platform, error) {
		written, refused := desired.ReadInstallationValues(ctx, o.app.builtin.Chart, file.Name, file.Text, o.environment, defaultEnvironment)
		if written == nil {
			return nil, nil, refused
		}
		with, _, err := o.platform(ctx, files, nil, withSets(installation, values), written)
		if err != nil {
			return written, nil, err
		}
		return written, with, refused
	}
	return &lint.Linter{
		Installed: installed, Definitions: o.app.builtin.definitionOf, Platform: given, DefaultEnvironment: o.environment, KubeVersion: o.kubeVersion, OldestKubelet: o.kubelet(), Cluster: o.ofCluster.over(render.Cluster{}), VectorVersion: o.vectorVersion, IsTogether: o.together,
	}, nil
}

// collect returns the files below a path, and the charts. The files of a chart belong to it, its
// values.yaml even if that alone is named, except for the values of its environments.
func (a *app) collect(path string) (files []lint.File, charts []string, err error) {
	if path == "-" {
		text, err := readAll(a.In)
		return []lint.File{{Name: path, Text: text}}, nil, err
	}
	if folder := filepath.Dir(path); filepath.Base(path) == "values.yaml" && isChart(folder) {
		return nil, []string{folder}, nil
	}
	err = source.Walk(path, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fmt.Errorf("reading %s: %w", name, err)
		case entry.IsDir() && isChart(name):
			charts = append(charts, filepath.Clean(name)) // As those of its files are.
			return nil
		case entry.IsDir() && name != path && isPassedOver(name):
			return fs.SkipDir
		case entry.IsDir(), slices.Contains(charts, filepath.Dir(name)), !isLinted(name) && name != path:
			return nil
		}
		text, err := source.ReadFile(name)
		if err != nil {
			return fmt.Errorf("reading %s: %w", name, err)
		}
		file := lint.File{Name: name, Text: text}
		if name != path {
			file.Root = path
		}
		files = append(files, file)
		return nil
	})
	if err == nil && len(files)+len(charts) == 0 { // That would look like success.
		err = fmt.Errorf("there is nothing to lint in %s: recognized file extensions are %s", path, strings.Join(linted, ", "))
	}
	return files, charts, err
}

// isPassedOver reports whether a subfolder has nothing to lint: hidden ones, and the templates of
// charts, which are not YAML before rendering.
func isPassedOver(name string) bool {
	if base := filepath.Base(name); base[0] == '.' || base == "testdata" || base == "node_modules" {
		return true
	}
	_, err := os.Stat(filepath.Join(filepath.Dir(name), "Chart.yaml"))
	return err == nil && filepath.Base(name) != "values"
}

// linted are the extensions of files to lint in folders.
var linted = []string{".yaml", ".yml", ".json", ".toml"}

func isLinted(name string) bool { return slices.Contains(linted, filepath.Ext(name)) }
