// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/environment"
	"kontroloop.ai/vector-sidecar-operator/internal/gotemplate"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// Chart is a loaded, compiled and checked sidecar chart. It is immutable and safe for
// concurrent use.
type Chart struct {
	// Digest is a digest of the chart's content.
	Digest string
	// Roll is the value of the annotation meta.AnnotationRoll in Chart.yaml, "" without the annotation.
	Roll string
	// Environments holds the values of the chart's environments.
	Environments *environment.Set
	metadata     *chart.Metadata
	templates    *gotemplate.Set
	texts        map[string]string
	files        gotemplate.Files
}

// Release is .Release of the templates.
type Release struct{ Name, Namespace string }

// LoadChart reads a chart from a file system: Chart.yaml, values.yaml,
// values.schema.json, values/*.yaml and templates/ at its root. Errors name file
// and line.
func LoadChart(source fs.FS) (*Chart, error) {
	files, err := ReadFiles(source)
	if err != nil {
		return nil, err
	}
	return files.Load()
}

// Load compiles a chart from these files.
func (f Files) Load() (*Chart, error) {
	if err := f.checkFiles(); err != nil {
		return nil, err
	}
	loaded, err := loader.LoadFiles(f.bufferedFiles())
	if err != nil {
		return nil, fmt.Errorf("loading the sidecar chart: %w", err)
	}
	if len(loaded.Dependencies()) > 0 || len(loaded.Metadata.Dependencies) > 0 {
		return nil, fmt.Errorf("the sidecar chart %q has dependencies, which are not rendered; copy their templates into the chart", loaded.Name())
	}
	if err := checkContract(contracts, loaded.Metadata.Annotations[meta.AnnotationContract]); err != nil {
		return nil, err
	}
	environments, err := environment.Load(f)
	if err != nil {
		return nil, err
	}
	texts := map[string]string{}
	for _, file := range loaded.Templates {
		texts[path.Join(loaded.Name(), file.Name)] = string(file.Data)
	}
	compiled, err := gotemplate.Compile(texts, gotemplate.Options{Watch: [][]string{{"Values", "target"}, {"Release"}}, Methods: templateMethods()})
	if err != nil {
		return nil, err
	}
	otherFiles := gotemplate.Files{}
	for _, file := range loaded.Files {
		otherFiles[file.Name] = file.Data
	}
	return &Chart{
		Digest:       f.digest(),
		Roll:         loaded.Metadata.Annotations[meta.AnnotationRoll],
		Environments: environments,
		metadata:     loaded.Metadata,
		templates:    compiled,
		texts:        texts,
		files:        otherFiles,
	}, nil
}

// readByHelm are the files that Helm parses itself, without limits.
var readByHelm = []string{chartFile, "Chart.lock", "values.yaml", "requirements.yaml", "requirements.lock"}

// checkFiles applies the limits to the templates and the files that Helm parses itself, and rejects dependencies.
func (f Files) checkFiles() error {
	for _, name := range readByHelm {
		if _, err := bounded.Values().MeasureYAML(f[name]); err != nil {
			return bounded.WithFile(name, err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f)) {
		if strings.HasPrefix(name, "charts/") {
			return fmt.Errorf("the sidecar chart has a dependency, %s, which is not rendered; copy its templates into the chart", name)
		}
		if err := bounded.Template().CheckSize(f[name]); err != nil && strings.HasPrefix(name, "templates/") {
			return bounded.WithFile(name, err)
		}
	}
	return nil
}

// Usage returns the usage of the defines of the chart's templates.
func (c *Chart) Usage() gotemplate.Usage { return c.templates.Usage() }

// Output is the result of an execution.
type Output struct {
	// Files holds the text of each template by its name, such as
	// "vector-sidecar/templates/podtemplate.yaml".
	Files map[string]string
	// ReadTarget lists the reads of .Values.target. The output is the same for every target with the same values
	// there.
	ReadTarget []tree.Read
	// ReadsNamespace reports whether .Release.Namespace was read. If it was not, the output is the same for every
	// namespace.
	ReadsNamespace bool
}

// isOfNamespace reports whether a read of .Release includes the namespace.
func isOfNamespace(read tree.Read) bool { return len(read.Path) == 0 || read.Path[0] == "Namespace" }

// Execute runs every template of the chart with the values as .Values. kubeVersion is the version of the API server,
// such as "v1.36.0". ReadTarget and ReadsNamespace are valid even if there is an error.
func (c *Chart) Execute(ctx context.Context, release Release, values map[string]any, kubeVersion string) (Output, error) {
	version, err := chartutil.ParseKubeVersion(kubeVersion)
	if err != nil {
		return Output{}, fmt.Errorf("reading the Kubernetes version %q: %w", kubeVersion, err)
	}
	output := Output{Files: map[string]string{}}
	for _, name := range c.templates.Names() {
		text, read, err := c.templates.ExecuteWatched(ctx, name, c.rootValues(name, release, values, version))
		output.ReadTarget = tree.JoinReads(output.ReadTarget, read[0])
		output.ReadsNamespace = output.ReadsNamespace || slices.ContainsFunc(read[1], isOfNamespace)
		if err != nil {
			return output, err
		}
		output.Files[name] = text
	}
	return output, nil
}
