// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"strings"

	vectoroptions "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/options"
	"kontroloop.ai/vector-sidecar-operator/internal/vectorlint/vrl"
)

// mostReadAhead is the maximum number of characters that the VRL parser may read ahead in all programs of a
// configuration. Lookups of variables and fields also count. They take about a tenth of a second.
const mostReadAhead = 10_000_000

// codeOf contains the code of the rule for each kind of mistake in a VRL program.
var codeOf = map[vrl.Kind]Code{vrl.Syntax: wrongProgram, vrl.Function: noSuchFunction, vrl.Variable: noSuchVariable, vrl.Error: unhandledError}

// Programs contains the numbers of VRL programs in a configuration, by how much of each program was checked.
type Programs struct{ Fully, Partly, NotJudged int }

// isProgram reports whether an option accepts a VRL program. In a VRL program, $ and {{ have other meanings.
func isProgram(forms []vectoroptions.Form) bool {
	for _, form := range forms {
		if form.Kind == "condition" || form.Syntax == "remap_program" {
			return true
		}
	}
	return false
}

// checkProgram reports the mistakes in a VRL program that Vector compiles when it starts. It skips programs of
// unit tests, because Vector does not compile these at start. It also skips the program if its findings would
// be dropped.
func (c *checker) checkProgram(path string, v *value, isCondition bool) {
	if v.form != text || strings.HasPrefix(path, "tests[") {
		return
	}
	minor, level := c.version.minor, Error
	if !c.hasOptionTable {
		minor, level = 0, Warning
	}
	if c.effort.ctx.Err() != nil || c.counts[level] >= mostFindings {
		c.programs.NotJudged++
		return
	}
	program, openLines := c.withoutOpenParts(v.scalar)
	report := vrl.Check(program, vrl.Options{Minor: minor, Effort: mostReadAhead - c.readAhead, IsCondition: isCondition, IsAny: c.hasNoSchema(), Nearest: c.effort.nearestName})
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
			message = fmt.Sprintf("line %d of the VRL program: %s", finding.Line, message)
		}
		c.add(codeOf[finding.Kind], pos, path, c.hasOptionTable, "%s", message, help(finding.Help))
	}
}

// hasNoSchema reports whether Vector certainly does not infer a schema for the events that a transform
// receives.
func (c *checker) hasNoSchema() bool {
	schema := c.root.get("schema")
	enabled := schema.get("enabled")
	return !c.isRootOpen() && schema.form != open && !c.hasOpenKey(schema) && (enabled.form == null || enabled.isFalse())
}

// locateInText returns the position, in its file, of a column in the last of some lines of a text. It returns
// false if the file does not contain these lines unchanged.
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

// fileLines returns the lines of a file. Each file is split only once.
func (c *checker) fileLines(file int) []string {
	if c.lines[file] == nil {
		if c.lines == nil {
			c.lines = map[int][]string{}
		}
		c.lines[file] = strings.Split(c.files[file].Text, "\n")
	}
	return c.lines[file]
}

// findIndent returns the offset at which the last line starts in the corresponding line of the file. It returns
// false unless each line is part of the corresponding line of the file.
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
