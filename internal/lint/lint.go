// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"context"
	"path"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/internal/definition"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
	vectorconfig "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/config"
)

// File is a file to lint.
type File struct {
	// Name is the path of the file.
	Name string
	// Root is the directory with the file that the user named, or "" if the user named the file directly.
	Root string
	// Chart is the directory of the chart that contains the file. It is "" without a chart, and for charts for
	// which IsOurChart returns true.
	Chart string
	// IsValues reports whether the user named the file as a values file.
	IsValues bool
	Text     []byte
}

// Linter checks files. All fields except VectorVersion and Definitions are required. Of the Settings, the default
// environment and the version of Kubernetes are required.
type Linter struct {
	// Settings are the settings for rendering sidecars.
	desired.Settings

	// Platform contains the chart and the values of an installation, if there are any.
	Platform *desired.Platform
	// Installed returns the values of a file, and a copy of Platform with these values as the values of the
	// installation. It may return an error together with results. If it returns both results or neither, the
	// error concerns the file. If it returns only the values, the error does not concern the file.
	Installed func(ctx context.Context, file File) (*desired.InstallationValues, *desired.Platform, error)
	// VectorVersion is the version of Vector, such as 0.57.0, that replaces the version in the image of a
	// VectorSidecar. If it is "", the version in the image is used.
	VectorVersion string
	// IsTogether reports whether all files with Vector configuration belong to one configuration.
	IsTogether bool
	// Definitions returns the definition of a custom kind, or nil for other kinds.
	Definitions func(kind string) (*definition.Definition, error)
}

// definitionFor returns the definition of a kind, or nil if the kind does not have a definition.
func (l *Linter) definitionFor(kind string) (*definition.Definition, error) {
	if l.Definitions == nil {
		return nil, nil //nolint:nilnil // Objects are decoded by their Go types alone.
	}
	return l.Definitions(kind)
}

// schemaFor returns the definition of a kind as a schema. It implements source.Schemas.
func (l *Linter) schemaFor(kind string) (source.Schema, error) {
	kindDefinition, err := l.definitionFor(kind)
	if kindDefinition == nil || err != nil {
		return nil, err
	}
	return kindDefinition, nil
}

// Result contains the findings and the skipped files.
type Result struct {
	Findings []Finding `json:"findings"`
	// Ignored are the findings that comments in the files ignore, with the reason in the comment.
	Ignored []Finding `json:"ignored,omitempty"`
	// Linted is the number of checked files. Skipped lists the other files.
	Linted  int           `json:"linted"`
	Skipped []SkippedFile `json:"skipped,omitempty"`
	// Notes are remarks about positions that a check could not decide.
	Notes []Note `json:"notes,omitempty"`
}

// Lint checks all files together, because workloads, ConfigMaps and VectorSidecars may be in different files.
func (l *Linter) Lint(ctx context.Context, files []File) (*Result, error) {
	result := &Result{Findings: []Finding{}}
	objects := &objects{linter: l, world: source.NewObjectOverlay(nil)}
	var linted []File
	if l.IsTogether {
		var configuration []vectorconfig.File
		var err error
		configuration, linted, files = SplitFiles(files)
		if result.Findings, err = l.lintTogether(ctx, configuration); err != nil {
			return nil, err
		}
	}
	for _, file := range files {
		var findings []Finding
		switch detectKind(file) {
		case vectorKind:
			var err error
			if findings, err = l.lintVector(ctx, file); err != nil {
				return nil, err
			}
		case valuesKind:
			var notes []Note
			var err error
			if findings, notes, err = l.lintValues(ctx, file); err != nil {
				return nil, err
			}
			result.Notes = append(result.Notes, notes...)
		case objectKind:
			findings = objects.addFile(ctx, file)
		default:
			result.Skipped = append(result.Skipped, newSkippedFile(file))
			continue
		}
		linted = append(linted, file)
		result.Findings = append(result.Findings, findings...)
	}
	objectFindings, err := objects.lintObjects(ctx)
	if err != nil {
		return nil, err
	}
	result.Findings = sortFindings(append(result.Findings, objectFindings...))
	for _, file := range linted {
		result.suppress(file)
	}
	result.Linted, result.Findings = len(linted), sortFindings(result.Findings)
	return result, nil
}

// lintVector checks a file with Vector configuration.
func (l *Linter) lintVector(ctx context.Context, file File) ([]Finding, error) {
	configFile := vectorconfig.File{Name: path.Base(file.Name), Source: file.Name, Text: string(file.Text)}
	var findings []Finding
	report, err := desired.VectorReader.Check(ctx, []vectorconfig.File{configFile}, vectorconfig.Options{Image: l.vectorImage()})
	if err != nil {
		return nil, err
	}
	for _, vectorFinding := range report.Findings {
		findings = append(findings, newVectorFinding(vectorFinding, file.Name, position{vectorFinding.Line, vectorFinding.Column}))
	}
	return findings, nil
}

// newVectorFinding converts a finding about Vector configuration to a Finding.
func newVectorFinding(vectorFinding vectorconfig.Finding, file string, pos position) Finding {
	finding := Finding{Code: string(vectorFinding.Code), Level: string(vectorFinding.Level), File: file, Message: vectorFinding.Message, Help: vectorFinding.Help}
	if strings.HasPrefix(vectorFinding.Message, vectorFinding.Path) {
		return finding.withPosition(pos, "")
	}
	return finding.withPosition(pos, vectorFinding.Path)
}
