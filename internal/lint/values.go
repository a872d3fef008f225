// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/internal/environment"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// lintValues holds a values file against the schema of the installation chart, loads its template sets, and
// holds the values of its environments against the schemas of these.
func (l *Linter) lintValues(ctx context.Context, file File) ([]Finding, error) {
	if _, err := environment.ParseLayer(file.Name, file.Text); err != nil {
		if refused := beyond(file.Name, 1, err); refused != nil {
			return refused, nil
		}
		line, text := lineOf(err), strings.TrimPrefix(err.Error(), file.Name+": ")
		if rest, isPlaced := strings.CutPrefix(text, file.Name+":"); isPlaced {
			number, message, _ := strings.Cut(rest, ": ")
			if n, err := strconv.Atoi(number); err == nil {
				line, text = n, message
			}
		}
		return []Finding{newFinding(unreadable, file.Name, text).at(place{line: line}, "")}, nil
	}
	places := placesOf(file.Text, 1)
	values, platform, err := l.Installed(ctx, file)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case values != nil && platform == nil: // The file is not the cause.
		return nil, err
	}
	findings := findingsOf(file.Name, places, meta.ReasonInvalidValues, err)
	if platform == nil {
		return findings, nil
	}
	for _, fault := range platform.Faults() {
		findings = append(findings, findingsOf(file.Name, places, fault.Reason, fault.Err, values.Place(fault.Path...)...)...)
	}
	if len(findings) > 0 || values == nil {
		return findings, nil
	}
	return l.lintPresets(ctx, file, places, values, platform)
}

// findingsOf returns the findings that an error about a part of a file comes to: one for each value
// that it names, or else one for the part.
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
	// A finding says by itself where it is.
	text := strings.TrimPrefix(err.Error(), fmt.Sprintf("%s:%d: ", file, at.line))
	return []Finding{newFinding(reason, file, text).at(at, tree.Path(part...))}
}
