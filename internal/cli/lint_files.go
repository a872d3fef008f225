// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/internal/lint"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
)

// lintedFiles are the files and charts to lint below a path.
type lintedFiles struct {
	files []lint.File
	// charts are the directories of sidecar charts. All files of a chart are linted together, except the values of its
	// environments.
	charts  []string
	skipped []lint.SkippedFile
}

// collectFiles returns the files to lint below a path. A values.yaml in the directory of a sidecar chart stands for
// that chart. values are the files that the command line names as values.
func (a *app) collectFiles(path string, values ...string) (*lintedFiles, error) {
	collected := &lintedFiles{}
	if path == "-" {
		text, err := readStandardInput(a.In)
		collected.files = []lint.File{{Name: path, Text: text}}
		return collected, err
	}
	if folder := filepath.Dir(path); filepath.Base(path) == "values.yaml" && isChart(folder) {
		collected.charts = []string{folder}
		return collected, nil
	}
	err := source.Walk(path, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fmt.Errorf("reading %s: %w", name, err)
		case entry.IsDir() && isChart(name):
			collected.charts = append(collected.charts, filepath.Clean(name)) // Cleaned like the names of its files.
			return nil
		case entry.IsDir() && name != path && isIgnoredFile(name):
			return fs.SkipDir
		case entry.IsDir(), slices.Contains(collected.charts, filepath.Dir(name)), !isLintedFile(name) && name != path:
			return nil
		}
		return collected.addFile(path, name, values)
	})
	if err == nil && len(collected.files)+len(collected.charts)+len(collected.skipped) == 0 { // Success would hide that nothing was checked.
		err = fmt.Errorf("no files to lint in %s; expected extensions: %s", path, strings.Join(linted, ", "))
	}
	return collected, err
}

// addFile adds a file below a path. A template of a Helm chart is added only if it contains a VectorSidecar and no
// template actions. A template with both is listed as skipped.
func (f *lintedFiles) addFile(path, name string, values []string) error {
	text, err := source.ReadFile(name)
	if err != nil {
		return fmt.Errorf("reading %s: %w", name, err)
	}
	if chart := chartOfTemplate(name); chart != "" && (name != path || lint.IsTemplate(text)) {
		switch {
		case !lint.HasSidecar(text):
			if name == path {
				f.skipped = append(f.skipped, lint.SkippedFile{File: name, Reason: "template of a Helm chart", Chart: chart})
			}
			return nil
		case lint.IsTemplate(text):
			f.skipped = append(f.skipped, lint.SkipTemplate(name, chart))
			return nil
		}
	}
	file := lint.File{Name: name, Text: text, Chart: findOtherChart(name)}
	file.IsValues = slices.ContainsFunc(values, func(file string) bool { return filepath.Clean(file) == filepath.Clean(name) })
	if name != path {
		file.Root = path
	}
	f.files = append(f.files, file)
	return nil
}

// isIgnoredFile reports whether lint skips a subdirectory: a hidden directory, testdata, node_modules, or a directory
// in a sidecar chart that does not contain the values of its environments.
func isIgnoredFile(name string) bool {
	base := filepath.Base(name)
	if base[0] == '.' || base == "testdata" || base == "node_modules" {
		return true
	}
	return isChart(filepath.Dir(name)) && base != "values"
}

const templatesFolder = "templates"

// chartOfTemplate returns the directory of the chart to which a template file belongs, or "" for other files.
func chartOfTemplate(name string) string {
	for folder := filepath.Dir(name); ; folder = filepath.Dir(folder) {
		parent := filepath.Dir(folder)
		if filepath.Base(folder) == templatesFolder && hasChartFile(parent) {
			return parent
		}
		if parent == folder {
			return ""
		}
	}
}

// findOtherChart returns the directory of the Helm chart that contains a file. It returns "" for a file outside of
// charts, or in a chart of this project (lint.IsOurChart).
func findOtherChart(name string) string {
	absolute, err := filepath.Abs(name)
	if err != nil {
		return ""
	}
	for folder := filepath.Dir(absolute); ; folder = filepath.Dir(folder) {
		if hasChartFile(folder) {
			root, err := openFolder(folder)
			if err != nil || lint.IsOurChart(root) {
				return ""
			}
			return folder
		}
		if folder == filepath.Dir(folder) {
			return ""
		}
	}
}

// hasChartFile reports whether a directory is a Helm chart.
func hasChartFile(folder string) bool {
	_, err := os.Stat(filepath.Join(folder, "Chart.yaml"))
	return err == nil
}
