// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"regexp"
	"slices"
	"strings"

	vectoroptions "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/options"
)

// openPart matches an unknown part of a text: a reference to a variable or to a secret.
var openPart = regexp.MustCompile(variable.String() + "|" + secret.String())

// canEqual reports whether a text may be equal to a candidate after its unknown parts are replaced.
func (c *checker) canEqual(scalar, candidate string) bool {
	if scalar == candidate {
		return true
	}
	if !c.isDynamic(scalar) {
		return false
	}
	literals := openPart.Split(scalar, mostInText)
	remaining, isPrefix := strings.CutPrefix(candidate, literals[0])
	if !isPrefix {
		return false
	}
	last := len(literals) - 1
	for _, literal := range literals[1:last] {
		_, tail, found := strings.Cut(remaining, literal)
		if !found {
			return false
		}
		remaining = tail
	}
	return strings.HasSuffix(remaining, literals[last])
}

// canEqualAny reports whether a text may be equal to one of the candidates after its unknown parts are
// replaced.
func (c *checker) canEqualAny(scalar string, candidates []string) bool {
	return slices.ContainsFunc(candidates, func(candidate string) bool { return c.canEqual(scalar, candidate) })
}

// knownStart returns the text before the first unknown part.
func (c *checker) knownStart(scalar string) string {
	if !c.isDynamic(scalar) {
		return scalar
	}
	if span := openPart.FindStringIndex(scalar); span != nil {
		return scalar[:span[0]]
	}
	return scalar
}

// isComment reports whether the first line of a text looks like a comment. The line may also be part of a text
// with several lines.
func isComment(text string) bool { return strings.HasPrefix(strings.TrimLeft(text, " \t"), "#") }

// isInserted reports whether a value contains the value of a variable. It checks only the first line of the
// value.
func (c *checker) isInserted(v *value) bool {
	for _, interp := range c.interpolations {
		if interp.file != v.pos.file {
			continue
		}
		start := v.pos.column // In the text with the variables replaced.
		for _, m := range interp.moved {
			switch {
			case m.line != v.pos.line:
			case m.column < v.pos.column:
				start = v.pos.column + m.newColumn + m.width - m.column - m.oldWidth
			case m.newColumn <= start+len(v.scalar)+1: // A quotation mark may be before it.
				return true
			}
		}
	}
	return false
}

// withOpenKeys returns a copy of a file in which each variable that is alone in its line is turned into a key.
func (interp *interpolation) withOpenKeys(file File) File {
	sign := map[string]string{"yaml": ": ", "toml": " = "}[file.format()]
	if sign == "" || len(interp.standaloneLines) == 0 {
		return file
	}
	lines := strings.Split(file.Text, "\n")
	for _, line := range interp.standaloneLines {
		lines[line-1] = placeholder.ReplaceAllString(lines[line-1], "$0"+sign+"$0")
	}
	interp.hasOpenKeys = true
	file.Text = strings.Join(lines, "\n")
	return file
}

// checkOpenText checks a text with unknown parts: whether it may be equal to one of the option's values, and
// whether the option accepts a text.
func (c *checker) checkOpenText(path string, v *value, forms []vectoroptions.Form) {
	var choices []string
	for _, form := range forms {
		if !hasKind(v, form.Kind) {
			continue
		}
		values := form.Values()
		if len(values) == 0 || c.canEqualAny(v.scalar, values) {
			if isProgram([]vectoroptions.Form{form}) {
				c.checkSyntax(path, v, form)
				c.checkNested(path, v, form)
			}
			return
		}
		choices = append(choices, values...)
	}
	if len(choices) > 0 {
		c.reportChoice(path, v, choices)
		return
	}
	if strings.Trim(strings.Join(openPart.Split(v.scalar, mostInText), ""), " ") == "" {
		return // Such as a number in quotes: its value may contain the closing quote.
	}
	c.add(wrongForm, v.pos, path, c.hasOptionTable, "%s is a string, %q, and not %s", path, v.scalar, formNouns(forms))
}

// withoutOpenParts returns a VRL program in which zeros replace each unknown part. It also returns the lines
// with unknown parts outside of strings and comments. Such lines, and code that depends on them, cannot be
// checked.
func (c *checker) withoutOpenParts(program string) (stripped string, openLines map[int]bool) {
	if !c.isDynamic(program) {
		return program, nil
	}
	openLines = map[int]bool{}
	var b strings.Builder
	offset, line := 0, 1
	scan := programScan{}
	for _, span := range openPart.FindAllStringIndex(program, -1) {
		literal := program[offset:span[0]]
		line += strings.Count(literal, "\n")
		scan.scanText(literal)
		if !scan.isContained() {
			openLines[line] = true
		}
		b.WriteString(literal)
		b.WriteString(strings.Repeat("0", span[1]-span[0]))
		offset = span[1]
	}
	b.WriteString(program[offset:])
	return b.String(), openLines
}

// programScan tracks whether a position in a VRL program is in a string or a comment.
type programScan struct {
	// quote is the character that ends the current string, # in a comment, or 0 outside of both.
	quote     byte
	previous  byte
	isEscaped bool
}

// isContained reports whether the scan is within a quoted text.
func (s *programScan) isContained() bool { return s.quote != 0 }

// scanText continues the scan after a text, which may start and end inside a string or a comment.
func (s *programScan) scanText(text string) {
	for i := range len(text) {
		b := text[i]
		switch {
		case s.isEscaped:
			s.isEscaped = false
		case s.quote == '#':
			if b == '\n' {
				s.quote = 0
			}
		case s.quote != 0 && b == '\\':
			s.isEscaped = true
		case b == s.quote:
			s.quote = 0
		case s.quote != 0:
		case b == '"', b == '#', b == '\'' && strings.IndexByte("rst", s.previous) >= 0:
			s.quote = b
		}
		s.previous = b
	}
}
