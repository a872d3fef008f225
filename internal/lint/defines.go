// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"fmt"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/internal/gotemplate"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
)

// Note is a place at which a check has no result.
type Note struct {
	File string `json:"file"`
	Line int    `json:"line,omitempty"`
	Text string `json:"text"`
}

// lintDefines returns a finding for each define that the executed templates of a chart never use, in no environment
// and for no VectorSidecar. It returns a note for each computed call that may use some of them. findPosition returns the
// file and line of a place in the chart; ok is false for a file that the user did not write.
func lintDefines(chart *render.Chart, findPosition func(gotemplate.Position) (file string, pos position, ok bool)) (findings []Finding, notes []Note) {
	usage := chart.Usage()
	for _, define := range usage.Unused {
		if file, pos, ok := findPosition(define.Position); ok {
			findings = append(findings, newFinding(unusedDefine, file, fmt.Sprintf("no rendered template uses the define %q", define.Name)).withPosition(pos, ""))
		}
	}
	for _, call := range usage.Computed {
		if file, pos, ok := findPosition(call.Position); ok {
			text := "this call depends on values: not known whether it uses " + strings.Join(call.Defines, ", ")
			notes = append(notes, Note{File: file, Line: pos.line, Text: text})
		}
	}
	return findings, notes
}
