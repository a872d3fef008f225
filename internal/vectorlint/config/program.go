// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"strings"

	vectoroptions "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/options"
	"kontroloop.ai/vector-sidecar-operator/internal/vectorlint/vrl"
)

// mostReadAhead is the maximum number of characters that are read ahead in all VRL programs of a configuration, and of
// lookups of variables and fields: about a tenth of a second.
const mostReadAhead = 10_000_000

// codeOf has the rule of each kind of mistake in a VRL program.
var codeOf = map[vrl.Kind]Code{vrl.Syntax: wrongProgram, vrl.Function: noSuchFunction, vrl.Variable: noSuchVariable, vrl.Error: unhandledError}

// Programs counts the VRL programs of a configuration by their coverage.
type Programs struct{ Fully, Partly, NotJudged int }

// isProgram reports whether a text of one of these forms may be a VRL program. A VRL program has its own meaning of $
// and {{.
func isProgram(forms []vectoroptions.Form) bool {
	for _, form := range forms {
		if form.Kind == "condition" || form.Syntax == "remap_program" {
			return true
		}
	}
	return false
}

// checkProgram finds the mistakes of a VRL program, if Vector reads it when it starts. Vector does not read the
// programs of tests then. The program is not checked if its findings would be dropped.
func (c *checker) checkProgram(path string, v *value, isCondition bool) {
	if v.form != text || strings.HasPrefix(path, "tests[") {
		return
	}
	minor, level := c.version.minor, Error
	if !c.isTabled {
		minor, level = 0, Warning
	}
	if c.effort.ctx.Err() != nil || c.counts[level] >= mostFindings {
		c.programs.NotJudged++
		return
	}
	program, openLines := c.withoutOpenParts(v.scalar)
	report := vrl.Check(program, vrl.Options{Minor: minor, Effort: mostReadAhead - c.readAhead, IsCondition: isCondition, IsAny: c.hasNoSchema(), Nearest: c.effort.nearest})
	c.readAhead += report.Effort
	switch report.Coverage {
	case vrl.Fully:
		c.programs.Fully++
	case vrl.Partly:
		c.programs.Partly++
	default:
		c.programs.NotJudged++
	}
	lines := strings.Split(v.scalar, "\n")
	for _, finding := range report.Findings {
		if len(openLines) > 0 && (finding.Kind != vrl.Function || openLines[finding.Line]) {
			continue // It may depend on an unknown part.
		}
		pos, isFound := c.locateInText(v.pos, lines[:finding.Line], finding.Column)
		message := finding.Message
		if !isFound && len(lines) > 1 {
			message = fmt.Sprintf("line %d of the program: %s", finding.Line, message)
		}
		c.add(codeOf[finding.Kind], pos, path, c.isTabled, "%s", message, help(finding.Help))
	}
}

// hasNoSchema reports whether Vector does not infer a schema of the events that a transform receives.
func (c *checker) hasNoSchema() bool {
	schema := c.root.get("schema")
	enabled := schema.get("enabled")
	return !c.isRootOpen() && schema.form != open && !c.hasOpenKey(schema) && (enabled.form == null || enabled.isFalse())
}

// locateInText finds the last line of a text, up to a column in it, in the file that contains the text. It returns false if
// the file does not contain the lines unchanged.
func (c *checker) locateInText(text position, lines []string, column int) (pos position, isFound bool) {
	if text.file >= len(c.files) || text.line == 0 {
		return text, false
	}
	written := c.fileLines(text.file)
	for _, startLine := range []int{text.line, text.line - 1} { // Below the key, and behind it.
		if indent, ok := findIndent(lines, written[min(startLine, len(written)):]); ok {
			return position{file: text.file, line: startLine + len(lines), column: indent + column}, true
		}
	}
	return text, false
}

// fileLines returns the lines of a file, which is split once.
func (c *checker) fileLines(file int) []string {
	if c.lines[file] == nil {
		if c.lines == nil {
			c.lines = map[int][]string{}
		}
		c.lines[file] = strings.Split(c.files[file].Text, "\n")
	}
	return c.lines[file]
}

// findIndent returns the offset of the last line in the last written line, if the written lines contain all lines.
func findIndent(lines, written []string) (indent int, isThere bool) {
	if len(lines) > len(written) {
		return 0, false
	}
	for i, line := range lines {
		offset := strings.Index(written[i], line)
		if offset < 0 || line == "" && strings.TrimSpace(written[i]) != "" {
			return 0, false
		}
		indent = offset
	}
	return indent, true
}
