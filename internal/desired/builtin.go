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

// builtInChart contains the built-in templates: of this release, or of the release that published a stored revision.
type builtInChart struct {
	files render.Files
	chart *render.Chart
}

// loadedChart is a template set that was loaded from one version of its ConfigMap.
type loadedChart struct {
	version string
	chart   *render.Chart
	// contentDigest is a digest of the ConfigMap content from which the chart was loaded.
	contentDigest string
	// files contains digests of the content by key.
	files map[string]any
	// content is the content of the ConfigMap.
	content fleet.Files
	err     error
}

// newBuiltInChart loads the files of a built-in chart.
func newBuiltInChart(files render.Files) (*builtInChart, error) {
	chart, err := files.Load()
	if err != nil {
		return nil, err
	}
	return &builtInChart{files: files, chart: chart}, nil
}

// storedFiles converts the files of a chart to the form in which a revision stores them.
func storedFiles(chart render.Files) fleet.Files {
	files := fleet.Files{Data: map[string]string{}, BinaryData: map[string][]byte{}}
	for name, content := range chart {
		if utf8.Valid(content) {
			files.Data[name] = string(content)
		} else {
			files.BinaryData[name] = content
		}
	}
	return files
}

// chartFor returns the built-in chart that is stored with a revision. It returns the receiver if the revision stores
// the same files, or no built-in chart.
func (b *builtInChart) chartFor(content *fleet.Content) (*builtInChart, error) {
	if content.BuiltIn.IsEmpty() || content.BuiltIn.Equals(storedFiles(b.files)) {
		return b, nil
	}
	files := render.Files{}
	for name, text := range content.BuiltIn.Text() {
		files[name] = []byte(text)
	}
	stored, err := newBuiltInChart(files)
	if err != nil {
		return nil, fmt.Errorf("loading the built-in templates of the release that published the revision: %w", err)
	}
	return stored, nil
}

// load loads a template set from the files of its ConfigMap. The built-in chart provides the files that the ConfigMap
// does not have.
func (b *builtInChart) load(content fleet.Files) loadedChart {
	object := &corev1.ConfigMap{Data: content.Data, BinaryData: content.BinaryData}
	loaded := loadedChart{content: content, contentDigest: companion.Digest(object), files: plan.ConfigMapDigests(object)}
	files, err := b.files.WithConfigMap(content.Data, content.BinaryData)
	if err == nil {
		loaded.chart, err = files.Load()
	}
	loaded.err = err
	return loaded
}

// addSets adds the built-in template set and the given charts to a platform. Each set gets the installation's values,
// which are files by name, and the names of all known environments.
func (b *builtInChart) addSets(platform *Platform, source string, values map[string]string, charts map[string]loadedChart) {
	platform.builtIn = b.files
	withValues := func(chart *render.Chart) *environment.Set {
		environments := chart.Environments.WithNames(b.chart.Environments.Names()...)
		return environments.WithInstallation(source, values)
	}
	platform.Environments = withValues(b.chart)
	platform.Add(&TemplateSet{Name: DefaultTemplateSet, Chart: b.chart, Environments: platform.Environments})
	for name, loaded := range charts {
		set := &TemplateSet{Name: name, Chart: loaded.chart, ProvidedDigest: loaded.contentDigest, Files: loaded.files, Err: loaded.err}
		if loaded.chart != nil {
			set.Environments = withValues(loaded.chart)
		}
		platform.Add(set)
	}
	if defaultSet, _ := platform.Set(""); defaultSet.Environments != nil {
		platform.Environments = defaultSet.Environments
	}
}
