// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"fmt"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/internal/gotemplate"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
)

// Note is a remark about a position that a check could not decide.
type Note struct {
	File string `json:"file"`
	Line int    `json:"line,omitempty"`
	Text string `json:"text"`
}

// lintDefines returns a finding for each define that the templates of a chart never use, and a note for each call with
// a computed name, which may use some of these defines. findPosition converts a position in the chart to a file and a
// position in it. It returns false for a file that the user did not write.
func lintDefines(chart *render.Chart, findPosition func(gotemplate.Position) (file string, pos position, ok bool)) (findings []Finding, notes []Note) {
	usage := chart.Usage()
	for _, define := range usage.Unused {
		if file, pos, ok := findPosition(define.Position); ok {
			findings = append(findings, newFinding(unusedDefine, file, fmt.Sprintf("no rendered template uses the define %q", define.Name)).withPosition(pos, ""))
		}
	}
	for _, call := range usage.Computed {
		if file, pos, ok := findPosition(call.Position); ok {
			text := "this call depends on values, and may use " + strings.Join(call.Defines, ", ")
			notes = append(notes, Note{File: file, Line: pos.line, Text: text})
		}
	}
	return findings, notes
}
