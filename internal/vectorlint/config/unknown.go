// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"regexp"
	"slices"
	"strings"

	vectoroptions "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/options"
)

// openPart matches an unknown part of a text: a variable or a secret.
var openPart = regexp.MustCompile(variable.String() + "|" + secret.String())

// mayBe reports whether a text with unknown parts may be another text.
func (c *checker) mayBe(scalar, other string) bool {
	if scalar == other {
		return true
	}
	if !c.isDynamic(scalar) {
		return false
	}
	parts := openPart.Split(scalar, mostInText)
	rest, isPrefix := strings.CutPrefix(other, parts[0])
	if !isPrefix {
		return false
	}
	last := len(parts) - 1
	for _, part := range parts[1:last] {
		_, after, found := strings.Cut(rest, part)
		if !found {
			return false
		}
		rest = after
	}
	return strings.HasSuffix(rest, parts[last])
}

// mayBeOneOf reports whether a text may be one of several.
func (c *checker) mayBeOneOf(scalar string, others []string) bool {
	return slices.ContainsFunc(others, func(other string) bool { return c.mayBe(scalar, other) })
}

// knownStart returns the part of a text before its first unknown part.
func (c *checker) knownStart(scalar string) string {
	if !c.isDynamic(scalar) {
		return scalar
	}
	if at := openPart.FindStringIndex(scalar); at != nil {
		return scalar[:at[0]]
	}
	return scalar
}

// isComment reports whether a text starts with a line that is a comment, or part of a longer text.
func isComment(text string) bool { return strings.HasPrefix(strings.TrimLeft(text, " \t"), "#") }

// isInserted reports whether a variable is a part of a value. It checks the first line of the value only.
func (c *checker) isInserted(v *value) bool {
	for _, in := range c.interpolations {
		if in == nil || in.file != v.at.file {
			continue
		}
		start := v.at.column // In the text with the variables replaced.
		for _, m := range in.moved {
			switch {
			case m.line != v.at.line:
			case m.column < v.at.column:
				start = v.at.column + m.now + m.width - m.column - m.was
			case m.now <= start+len(v.scalar)+1: // A quotation mark may be before it.
				return true
			}
		}
	}
	return false
}

// withOpenKeys returns a file that has a separate key for each variable that is alone in its line.
func (in *interpolation) withOpenKeys(file File) File {
	sign := map[string]string{"yaml": ": ", "toml": " = "}[file.format()]
	if sign == "" || len(in.alone) == 0 {
		return file
	}
	lines := strings.Split(file.Text, "\n")
	for _, line := range in.alone {
		lines[line-1] = placeholder.ReplaceAllString(lines[line-1], "$0"+sign+"$0")
	}
	in.hasOpenKeys = true
	file.Text = strings.Join(lines, "\n")
	return file
}

// judgeOpenText checks the known parts of a text with unknown parts: the values of the option that it may be, and
// whether the option accepts a text.
func (c *checker) judgeOpenText(path string, v *value, forms []vectoroptions.Form) {
	var choices []string
	for _, form := range forms {
		if !isOf(v, form.Kind) {
			continue
		}
		values := form.Values()
		if len(values) == 0 || c.mayBeOneOf(v.scalar, values) {
			if isProgram([]vectoroptions.Form{form}) {
				c.judgeSyntax(path, v, form)
				c.judgeWithin(path, v, form)
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
	c.add(wrongForm, v.at, path, c.isTabled, "%s is a text, %q, and not %s", path, v.scalar, nouns(forms))
}

// withoutOpenParts returns a VRL program with digits for each unknown part. It also returns the lines with such a part
// outside of a text and a comment. Nothing is known about these lines and the code that depends on them.
func (c *checker) withoutOpenParts(program string) (known string, openLines map[int]bool) {
	if !c.isDynamic(program) {
		return program, nil
	}
	openLines = map[int]bool{}
	var b strings.Builder
	at, line := 0, 1
	scan := programScan{}
	for _, span := range openPart.FindAllStringIndex(program, -1) {
		between := program[at:span[0]]
		line += strings.Count(between, "\n")
		scan.read(between)
		if !scan.isContained() {
			openLines[line] = true
		}
		b.WriteString(between)
		b.WriteString(strings.Repeat("0", span[1]-span[0]))
		at = span[1]
	}
	b.WriteString(program[at:])
	return b.String(), openLines
}

// programScan finds out whether a place in a VRL program is in a text or a comment.
type programScan struct {
	// quote is the sign that ends the text, 0 outside of texts, and # in a comment.
	quote     byte
	last      byte
	isEscaped bool
}

func (s *programScan) isContained() bool { return s.quote != 0 }

func (s *programScan) read(text string) {
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
		case b == '"', b == '#', b == '\'' && strings.IndexByte("rst", s.last) >= 0:
			s.quote = b
		}
		s.last = b
	}
}
