// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/environment"
	"kontroloop.ai/vector-sidecar-operator/internal/gotemplate"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// lintValues checks a values file against the schema of the installation chart, and loads its template sets. It
// checks the values of each environment against the schema of the environment's template set, and renders
// presets with the values.
func (l *Linter) lintValues(ctx context.Context, file File) ([]Finding, []Note, error) {
	if _, err := environment.ParseLayer(file.Name, file.Text); err != nil {
		if refused := limitFindings(file.Name, 1, err); refused != nil {
			return refused, nil, nil
		}
		line, text := errorLine(err), strings.TrimPrefix(err.Error(), file.Name+": ")
		if rest, isPlaced := strings.CutPrefix(text, file.Name+":"); isPlaced {
			number, message, _ := strings.Cut(rest, ": ")
			if n, err := strconv.Atoi(number); err == nil {
				line, text = n, message
			}
		}
		return []Finding{newFinding(unreadable, file.Name, text).withPosition(position{line: line}, "")}, nil, nil
	}
	positions := newPositions(file.Text, 1)
	values, platform, err := l.Installed(ctx, file)
	switch {
	case ctx.Err() != nil:
		return nil, nil, ctx.Err()
	case values != nil && platform == nil: // The error does not concern the file.
		return nil, nil, err
	}
	findings := newFindings(file.Name, positions, meta.ReasonInvalidValues, err)
	if platform == nil {
		return findings, nil, nil
	}
	for _, fault := range platform.Faults() {
		findings = append(findings, newFindings(file.Name, positions, fault.Reason, fault.Err, values.PathInFile(fault.Path...)...)...)
	}
	if len(findings) > 0 || values == nil {
		return findings, nil, nil
	}
	findings, err = l.lintPresets(ctx, file, positions, values, platform)
	if err != nil {
		return nil, nil, err
	}
	unused, notes := lintTemplates(file, positions, platform)
	return append(findings, unused...), notes, nil
}

// lintTemplates returns the findings and notes about defines in the template sets of a values file.
func lintTemplates(file File, positions *positions, platform *desired.Platform) (findings []Finding, notes []Note) {
	for _, name := range templateSets(positions, platform) {
		set, err := platform.Set(name)
		if err != nil {
			continue // templateSets returns only sets that exist.
		}
		setFindings, setNotes := lintDefines(set.Chart, func(templatePlace gotemplate.Position) (string, position, bool) {
			pos, pathText := findPositionInSet(positions, name, templatePlace.File, templatePlace.Line)
			return file.Name, pos, pathText != ""
		})
		findings, notes = append(findings, setFindings...), append(notes, setNotes...)
	}
	return findings, notes
}

// newFindings converts an error about a part of a file to findings. It returns one finding for each value that
// the error names, or one finding for the whole part.
func newFindings(file string, positions *positions, reason string, err error, prefix ...string) []Finding {
	var findings []Finding
	for _, valueFinding := range environment.FindingsIn(err) {
		path := slices.Concat(prefix, valueFinding.Path)
		findings = append(findings, newFinding(reason, file, valueFinding.Message).withPosition(positions.findKey(path...), tree.JoinPath(path...)))
	}
	if err == nil || len(findings) > 0 {
		return findings
	}
	pos := positions.findKey(prefix...)
	// The finding has a position, so the text does not repeat the position.
	text := strings.TrimPrefix(err.Error(), fmt.Sprintf("%s:%d: ", file, pos.line))
	return []Finding{newFinding(reason, file, text).withPosition(pos, tree.JoinPath(prefix...))}
}
