// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"context"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	vectorconfig "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/config"
	vectorflags "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/flags"
)

// SplitFiles separates the files of Vector configurations from other files. configuration has the files as Vector
// reads them, and vectorFiles the same files unchanged. A directory with subdirectories such as sources is one
// configuration directory, and so is every other directory, as Vector treats them with --config-dir.
func SplitFiles(files []File) (configuration []vectorconfig.File, vectorFiles, otherFiles []File) {
	for _, file := range files {
		directory, relativePath := splitDirectory(file)
		if !isPartOfDirectory(file, relativePath) {
			otherFiles = append(otherFiles, file)
			continue
		}
		vectorFiles = append(vectorFiles, file)
		configuration = append(configuration, vectorconfig.File{
			Name: path.Base(filepath.ToSlash(file.Name)), Source: file.Name, Text: string(file.Text), Directory: directory, RelativePath: relativePath,
		})
	}
	slices.SortStableFunc(configuration, func(a, b vectorconfig.File) int { return strings.Compare(a.Directory, b.Directory) })
	return configuration, vectorFiles, otherFiles
}

// splitDirectory returns the configuration directory that contains a file, and the path of the file in that
// directory. Both are "" for a file that the user named directly.
func splitDirectory(file File) (directory, relativePath string) {
	if file.Root == "" {
		return "", ""
	}
	relative, err := filepath.Rel(file.Root, file.Name)
	if err != nil {
		return "", ""
	}
	steps := strings.Split(filepath.ToSlash(relative), "/")
	i := slices.IndexFunc(steps[:len(steps)-1], func(step string) bool { return slices.Contains(vectorflags.Sections, step) })
	if i < 0 {
		i = len(steps) - 1
	}
	return path.Join(append([]string{filepath.ToSlash(file.Root)}, steps[:i]...)...), strings.Join(steps[i:], "/")
}

// isPartOfDirectory reports whether a file belongs to a Vector configuration according to its keys or its directory.
func isPartOfDirectory(file File, relativePath string) bool {
	kind := detectKind(file)
	if relativePath == "" || !strings.Contains(relativePath, "/") {
		return kind == vectorKind || kind == otherKind && isOnlyForVector(file)
	}
	root := vectorflags.Source{Path: vectorflags.Text{Value: "/"}, IsDirectory: true}
	_, isRead := root.Matches("/"+relativePath, "")
	return isRead && (kind == vectorKind || kind == otherKind)
}

// isOnlyForVector reports whether Vector knows all top-level keys of a file.
func isOnlyForVector(file File) bool {
	keys := newPositions(file.Text, 1).topKeys()
	return len(keys) > 0 && !slices.ContainsFunc(keys, func(key string) bool { return !vectorconfig.IsTopLevel(key) })
}

// lintTogether checks files that belong to one Vector configuration.
func (l *Linter) lintTogether(ctx context.Context, files []vectorconfig.File) ([]Finding, error) {
	if len(files) == 0 {
		return []Finding{}, nil
	}
	report, err := desired.VectorReader.Check(ctx, files, vectorconfig.Options{Image: l.vectorImage()})
	if err != nil {
		return nil, err
	}
	return VectorFileFindings(report.Findings), nil
}

// VectorFileFindings converts findings about files with Vector configuration.
func VectorFileFindings(findings []vectorconfig.Finding) []Finding {
	lintFindings := []Finding{}
	for _, vectorFinding := range findings {
		lintFindings = append(lintFindings, newVectorFinding(vectorFinding, vectorFinding.Source, position{vectorFinding.Line, vectorFinding.Column}))
	}
	return lintFindings
}
