// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"fmt"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/companion"
	"kontroloop.ai/vector-sidecar-operator/internal/environment"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
)

// builtInChart has the built-in templates, of this release or of the release that published a
// revision.
type builtInChart struct {
	files render.Files
	chart *render.Chart
}

// loadedChart is a template set loaded from one version of its ConfigMap.
type loadedChart struct {
	version string
	chart   *render.Chart
	// given is a digest of the ConfigMap content from which chart was loaded.
	given string
	// files has the digests of that content by key.
	files map[string]any
	// content is the content of the ConfigMap.
	content fleet.Files
	err     error
}

func newBuiltInChart(files render.Files) (*builtInChart, error) {
	chart, err := files.Load()
	if err != nil {
		return nil, err
	}
	return &builtInChart{files: files, chart: chart}, nil
}

// storedFiles returns the files of a chart in the form that is stored with a revision.
func storedFiles(chart render.Files) fleet.Files {
	all := fleet.Files{Data: map[string]string{}, BinaryData: map[string][]byte{}}
	for name, content := range chart {
		if utf8.Valid(content) {
			all.Data[name] = string(content)
		} else {
			all.BinaryData[name] = content
		}
	}
	return all
}

// of returns the built-in chart that is stored with a revision. It returns the receiver if the
// files are the same or if none are stored.
func (b *builtInChart) of(content *fleet.Content) (*builtInChart, error) {
	if content.BuiltIn.IsEmpty() || content.BuiltIn.Equals(storedFiles(b.files)) {
		return b, nil
	}
	files := render.Files{}
	for name, text := range content.BuiltIn.Text() {
		files[name] = []byte(text)
	}
	then, err := newBuiltInChart(files)
	if err != nil {
		return nil, fmt.Errorf("loading the built-in templates of the release that published the revision: %w", err)
	}
	return then, nil
}

// load loads a template set from its files.
func (b *builtInChart) load(content fleet.Files) loadedChart {
	object := &corev1.ConfigMap{Data: content.Data, BinaryData: content.BinaryData}
	now := loadedChart{content: content, given: companion.Digest(object), files: plan.ConfigMapDigests(object)}
	files, err := b.files.WithConfigMap(content.Data, content.BinaryData)
	if err == nil {
		now.chart, err = files.Load()
	}
	now.err = err
	return now
}

// addSets adds the built-in template set and the other sets. Each set gets the installation's
// values, by file, and the names of all known environments.
func (b *builtInChart) addSets(next *Platform, source string, values map[string]string, charts map[string]loadedChart) {
	next.builtIn = b.files
	withValues := func(chart *render.Chart) *environment.Set {
		known := chart.Environments.WithNames(b.chart.Environments.Names()...)
		return known.WithInstallation(source, values)
	}
	next.Environments = withValues(b.chart)
	next.Add(&TemplateSet{Name: DefaultTemplateSet, Chart: b.chart, Environments: next.Environments})
	for name, from := range charts {
		set := &TemplateSet{Name: name, Chart: from.chart, Given: from.given, Files: from.files, Err: from.err}
		if from.chart != nil {
			set.Environments = withValues(from.chart)
		}
		next.Add(set)
	}
	if own, _ := next.Set(""); own.Environments != nil {
		next.Environments = own.Environments
	}
}
