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

// lintValues checks a values file against the schema of the installation chart, and loads its template sets. It also
// checks the values of each environment against the schemas of these template sets.
func (l *Linter) lintValues(ctx context.Context, file File) ([]Finding, []Note, error) {
	if _, err := environment.ParseLayer(file.Name, file.Text); err != nil {
		if refused := beyond(file.Name, 1, err); refused != nil {
			return refused, nil, nil
		}
		line, text := lineOf(err), strings.TrimPrefix(err.Error(), file.Name+": ")
		if rest, isPlaced := strings.CutPrefix(text, file.Name+":"); isPlaced {
			number, message, _ := strings.Cut(rest, ": ")
			if n, err := strconv.Atoi(number); err == nil {
				line, text = n, message
			}
		}
		return []Finding{newFinding(unreadable, file.Name, text).at(place{line: line}, "")}, nil, nil
	}
	places := placesOf(file.Text, 1)
	values, platform, err := l.Installed(ctx, file)
	switch {
	case ctx.Err() != nil:
		return nil, nil, ctx.Err()
	case values != nil && platform == nil: // The error does not concern the file.
		return nil, nil, err
	}
	findings := findingsOf(file.Name, places, meta.ReasonInvalidValues, err)
	if platform == nil {
		return findings, nil, nil
	}
	for _, fault := range platform.Faults() {
		findings = append(findings, findingsOf(file.Name, places, fault.Reason, fault.Err, values.PathInFile(fault.Path...)...)...)
	}
	if len(findings) > 0 || values == nil {
		return findings, nil, nil
	}
	findings, err = l.lintPresets(ctx, file, places, values, platform)
	if err != nil {
		return nil, nil, err
	}
	unused, notes := definesIn(file, places, platform)
	return append(findings, unused...), notes, nil
}

// definesIn returns the findings and notes about the defines in the template sets of a values file.
func definesIn(file File, places *places, platform *desired.Platform) (findings []Finding, notes []Note) {
	for _, name := range setsIn(places, platform) {
		set, err := platform.Set(name)
		if err != nil {
			continue // setsIn returns only sets that exist.
		}
		found, unknown := lintDefines(set.Chart, func(of gotemplate.Position) (string, place, bool) {
			at, where := placeInSet(places, name, of.File, of.Line)
			return file.Name, at, where != ""
		})
		findings, notes = append(findings, found...), append(notes, unknown...)
	}
	return findings, notes
}

// findingsOf converts an error about a part of a file to findings: one for each value that the error names, else one
// for the part.
func findingsOf(file string, places *places, reason string, err error, part ...string) []Finding {
	var findings []Finding
	for _, found := range environment.FindingsIn(err) {
		path := slices.Concat(part, found.Path)
		findings = append(findings, newFinding(reason, file, found.Message).at(places.of(path...), tree.Path(path...)))
	}
	if err == nil || len(findings) > 0 {
		return findings
	}
	at := places.of(part...)
	// The finding has the place, so the text does not repeat it.
	text := strings.TrimPrefix(err.Error(), fmt.Sprintf("%s:%d: ", file, at.line))
	return []Finding{newFinding(reason, file, text).at(at, tree.Path(part...))}
}
