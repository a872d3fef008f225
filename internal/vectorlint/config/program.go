// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"strings"

	vectoroptions "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/options"
	"kontroloop.ai/vector-sidecar-operator/internal/vectorlint/vrl"
)

// mostReadAhead is how many characters the programs of a configuration may be read ahead
// in all, and looks at variables and fields: about a tenth of a second.
const mostReadAhead = 10_000_000

// codeOf has the rules of what may be wrong with a program.
var codeOf = map[vrl.Kind]Code{vrl.Syntax: wrongProgram, vrl.Function: noSuchFunction, vrl.Variable: noSuchVariable, vrl.Error: unhandledError}

// Programs counts the VRL programs of a configuration by how much of what Vector judges of
// them was judged.
type Programs struct{ Fully, Partly, NotJudged int }

// isProgram reports whether a text of one of these forms may be a program, which has uses of
// its own for $ and {{.
func isProgram(forms []vectoroptions.Form) bool {
	for _, form := range forms {
		if form.Kind == "condition" || form.Syntax == "remap_program" {
			return true
		}
	}
	return false
}

// judgeProgram finds what is wrong with a VRL program, if Vector reads it when it starts: those
// of tests it does not. Of no use is what would not be kept.
func (c *checker) judgeProgram(path string, v *value, isCondition bool) {
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
	known, openLines := c.withoutOpenParts(v.scalar)
	report := vrl.Check(known, vrl.Options{Minor: minor, Effort: mostReadAhead - c.readAhead, IsCondition: isCondition, IsAny: c.hasNoSchema(), Nearest: c.effort.nearest})
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
	for _, one := range report.Findings {
		if len(openLines) > 0 && (one.Kind != vrl.Function || openLines[one.Line]) {
			continue // It may depend on what is not known.
		}
		at, isFound := c.within(v.at, lines[:one.Line], one.Column)
		message := one.Message
		if !isFound && len(lines) > 1 {
			message = fmt.Sprintf("line %d of the program: %s", one.Line, message)
		}
		c.add(codeOf[one.Kind], at, path, c.isTabled, "%s", message, help(one.Help))
	}
}

// hasNoSchema reports whether Vector infers nothing of the events that a transform gets.
func (c *checker) hasNoSchema() bool {
	schema := c.root.get("schema")
	enabled := schema.get("enabled")
	return !c.isRootOpen() && schema.form != open && !c.hasOpenKey(schema) && (enabled.form == null || enabled.isFalse())
}

// within finds the last of a text's lines, up to a place in it, in the file that it is
// written in, if that has them as they are.
func (c *checker) within(text position, lines []string, column int) (at position, isFound bool) {
	if text.file >= len(c.files) || text.line == 0 {
		return text, false
	}
	written := c.linesOf(text.file)
	for _, first := range []int{text.line, text.line - 1} { // Below the key, and beside it.
		if indent, isThere := indentOf(lines, written[min(first, len(written)):]); isThere {
			return position{file: text.file, line: first + len(lines), column: indent + column}, true
		}
	}
	return text, false
}

// linesOf are the lines of a file, which is split once.
func (c *checker) linesOf(file int) []string {
	if c.lines[file] == nil {
		if c.lines == nil {
			c.lines = map[int][]string{}
		}
		c.lines[file] = strings.Split(c.files[file].Text, "\n")
	}
	return c.lines[file]
}

// indentOf returns where the last of some lines begins in those that are written, if these
// have all of them.
func indentOf(lines, written []string) (indent int, isThere bool) {
	if len(lines) > len(written) {
		return 0, false
	}
	for i, line := range lines {
		at := strings.Index(written[i], line)
		if at < 0 || line == "" && strings.TrimSpace(written[i]) != "" {
			return 0, false
		}
		indent = at
	}
	return indent, true
}
