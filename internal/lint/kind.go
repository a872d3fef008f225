// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
	vectorconfig "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/config"
)

// kind is the kind of content in a file.
type kind int

const (
	otherKind kind = iota
	objectKind
	valuesKind
	vectorKind
)

// SkippedFile is a file that is not checked, with the reason.
type SkippedFile struct {
	File   string `json:"file"`
	Reason string `json:"reason"`
	// Chart is the directory of the other chart to which the file belongs, or "" for none.
	Chart string `json:"chart,omitempty"`
}

// NotRecognized is the reason for skipping a file with unknown content.
const NotRecognized = "neither objects, values nor Vector configuration"

// newSkippedFile returns the SkippedFile, with its reason, for a file of otherKind.
func newSkippedFile(file File) SkippedFile {
	skipped := SkippedFile{File: file.Name, Reason: NotRecognized, Chart: file.Chart}
	switch base := path.Base(filepath.ToSlash(file.Name)); {
	case base == chartCard:
		skipped.Reason = "metadata of a Helm chart"
	case isNamedValues(file.Name) && file.Chart != "":
		skipped.Reason = "values of the Helm chart " + path.Base(filepath.ToSlash(file.Chart)) + ", which is not of the sidecar or the operator; to check them, name the file with --values"
	}
	return skipped
}

// SkipTemplate returns the SkippedFile for a template of another chart that contains a VectorSidecar.
func SkipTemplate(name, chart string) SkippedFile {
	reason := "template of a Helm chart with a VectorSidecar: render it, as with helm template " + chart + " | kubectl vectorsidecar lint -"
	return SkippedFile{File: name, Reason: reason, Chart: chart}
}

var (
	sidecarKind    = regexp.MustCompile(`(?m)^[\s-]*["']?kind["']?:\s*["']?(Cluster)?VectorSidecar\b`)
	templateAction = regexp.MustCompile(`{{`)
)

// HasSidecar reports whether a text contains a VectorSidecar. The text may also contain template actions.
func HasSidecar(text []byte) bool { return sidecarKind.Match(text) }

// IsTemplate reports whether a text contains template actions.
func IsTemplate(text []byte) bool { return templateAction.Match(text) }

const (
	// chartCard is the name of the file that makes a directory a chart.
	chartCard = "Chart.yaml"
	// installationName is the name of the chart that installs the operator.
	installationName = "vector-sidecar-operator"
)

// IsOurChart reports whether a directory contains a sidecar chart or the installation chart.
func IsOurChart(folder fs.FS) bool {
	if IsChart(folder) {
		return true
	}
	var card struct {
		Name string `json:"name"`
	}
	text, err := bounded.Chart().ReadFile(folder, chartCard)
	return err == nil && bounded.Values().DecodeYAML(text, &card) == nil && card.Name == installationName
}

// detectKind returns the kind of a file according to its keys. If the keys are ambiguous, the name of the file
// decides.
func detectKind(file File) kind {
	extension := path.Ext(file.Name)
	isValues := isNamedValues(file.Name)
	switch {
	case extension == ".toml":
		return kindOfTOML(file)
	case !slices.Contains([]string{".yaml", ".yml", ".json", ""}, extension) && file.Name != "-", path.Base(filepath.ToSlash(file.Name)) == chartCard:
		return otherKind
	}
	documents, err := source.Parse(file.Name, file.Text, nil)
	switch {
	case err != nil && isValues && file.Chart != "" && !file.IsValues:
		return otherKind
	case err != nil:
		return objectKind // Decoding the objects reports the error.
	case slices.ContainsFunc(documents, func(d source.Document) bool { return d.Kind != "" }):
		return objectKind
	}
	positions := newPositions(file.Text, 1)
	hasComponents := positions.hasMap("sources") || positions.hasMap("sinks") || positions.hasMap("transforms")
	switch {
	case file.IsValues:
		return valuesKind
	case isValues && file.Chart != "" && !positions.hasMap("sidecar") && !positions.hasMap("environments"):
		return otherKind
	case hasComponents:
		return vectorKind
	case isValues, positions.hasMap("sidecar"), positions.hasMap("environments"):
		return valuesKind
	}
	return otherKind
}

// isNamedValues reports whether the name of a file is typical for a values file.
func isNamedValues(name string) bool {
	name = filepath.ToSlash(name)
	base := path.Base(name)
	if strings.HasSuffix(base, ".schema.json") {
		return false
	}
	return strings.HasPrefix(base, "values") || strings.HasSuffix(base, "values.yaml") || path.Base(path.Dir(name)) == "values"
}

// kindOfTOML returns the kind of a TOML file. A file that the user named directly has vectorKind. A file in a
// directory has otherKind if it has no keys of Vector, such as the TOML files of Rust and Python projects.
func kindOfTOML(file File) kind {
	var content map[string]any
	if file.Root == "" || bounded.Object().DecodeTOML(file.Text, &content) != nil {
		return vectorKind
	}
	for key := range content {
		if vectorconfig.IsTopLevel(key) {
			return vectorKind
		}
	}
	return otherKind
}
