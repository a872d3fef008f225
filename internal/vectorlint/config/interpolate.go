// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// mostVariables is the maximum number of references to variables in a file.
const mostVariables = 10_000

// A placeholder replaces an unknown value while the file is parsed. It is a number, because all formats accept
// a number in quoted text, as a value, and in a key.
const placeholderFormat = "8172635%06d9"

var placeholder = regexp.MustCompile(`8172635(\d{6})9`)

// doubled matches a line that withOpenKeys has written: a placeholder as both key and value.
var doubled = regexp.MustCompile(`(8172635\d{6}9)(?:: | = )8172635\d{6}9`)

// interpolation describes the variables in a file. Like Vector, the check replaces variables in the text before
// it parses the text.
type interpolation struct {
	file int
	// open are the references to variables with unknown values, by the number in their placeholder.
	open []string
	// moved are the positions of replaced text, in order.
	moved []movedText
	// unset are the variables that the container does not have, each with its first position.
	unset   []unset
	isUnset map[string]bool
	// standaloneLines are the lines that contain only a variable with an unknown value, which may stand for
	// keys. If hasOpenKeys is true, withOpenKeys has turned these lines into keys.
	standaloneLines []int
	hasOpenKeys     bool
	// fit caches the result of isInsertable for the values of the container's variables, by name.
	fit map[string]bool
}

// movedText is a replaced text with a different width. It has its line, its column and width in the new text
// (newColumn, width) and in the file (column, oldWidth), and whether its value is unknown (isOpen).
type movedText struct {
	line, newColumn, width, column, oldWidth int
	isOpen                                   bool
}

// unset is a variable that the container does not have, with the first position that refers to it.
type unset struct {
	name string
	pos  position
}

// variableState describes whether the value of a variable is known.
type variableState int

const (
	// openValue means that the value is unknown.
	openValue variableState = iota
	knownValue
	// missingValue means that the container does not have the variable.
	missingValue
	// rejectedValue means that Vector rejects the value and does not insert it.
	rejectedValue
)

// isRootOpen reports whether the configuration may have further top-level keys, in a file that is not checked
// or from a variable.
func (c *checker) isRootOpen() bool { return c.isPartial || c.hasOpenKey(c.root) }

// hasOpenKey reports whether a table has a key with an unknown variable or secret. Such a key may be equal to
// any other key.
func (c *checker) hasOpenKey(v *value) bool {
	return slices.ContainsFunc(v.entries, func(e entry) bool { return c.isDynamic(e.key) })
}

// parseFile parses a file after it has replaced the variables. If the file cannot be parsed, but may be valid
// with the values of unknown variables, the finding is only a warning.
func (c *checker) parseFile(number int) *value {
	file := c.files[number]
	interp := &interpolation{file: number}
	if c.mayInterpolate && strings.IndexByte(file.Text, '$') >= 0 {
		text, replaced, failed := c.interpolate(file.Text, number)
		if failed != nil {
			c.report(failed.code, failed.pos, "", "%s", failed.message)
			return nil
		}
		file.Text, interp = text, replaced
	}
	tree, failed := c.reader.parse(file, number)
	if failed != nil && !failed.isMild && interp.explainsFault(failed) {
		if retried, _ := c.reader.parse(interp.withOpenKeys(file), number); retried != nil {
			tree, failed = retried, nil
		}
	}
	if failed != nil {
		failed.pos = interp.originalPosition(failed.pos)
		c.add(failed.code, failed.pos, "", !failed.isMild && !interp.explainsFault(failed), "%s", failed.message, failed.help)
	}
	if tree == nil {
		return nil
	}
	c.restoreReferences(interp, tree)
	if !tree.fitsTOML() {
		c.checkFitsTOML("", tree)
	}
	c.interpolations = append(c.interpolations, interp)
	return tree
}

// interpolate returns a text in which known variables are replaced by their values, and unknown variables by
// placeholders. It returns a fault for a file with too many variables, and for a text that is too large.
func (c *checker) interpolate(text string, file int) (string, *interpolation, *fault) {
	interp := &interpolation{file: file, fit: map[string]bool{}, isUnset: map[string]bool{}}
	var b strings.Builder
	b.Grow(len(text))
	braces := strings.LastIndexByte(text, '}') + 1
	hasComments := c.files[file].format() != "json"
	offset, line, start, shift := 0, 1, 0, 0 // start is the start of the line, shift the length that was added to it.
	for count := 0; ; count++ {
		dollar := strings.IndexByte(text[offset:], '$')
		if dollar < 0 {
			break
		}
		if breaks := strings.Count(text[offset:offset+dollar], "\n"); breaks > 0 {
			line, start, shift = line+breaks, offset+strings.LastIndexByte(text[offset:offset+dollar], '\n')+1, 0
		}
		b.WriteString(text[offset : offset+dollar])
		offset += dollar
		width := variableWidth(text[offset:], braces-offset)
		if width == 0 {
			b.WriteByte('$')
			offset++
			continue
		}
		if count >= mostVariables {
			return "", nil, &fault{code: tooLarge, pos: position{file: file, line: line, column: 1}, message: fmt.Sprintf("the file has more than %d variables", mostVariables)}
		}
		written := text[offset : offset+width]
		pos := position{file: file, line: line, column: offset - start + 1}
		fresh, isKnown := c.resolveVariable(written, interp, pos)
		if !isKnown {
			fresh = interp.hideReference(written, line, isWholeLine(text, start, offset+width))
		}
		if b.Len()+len(fresh) > c.reader.MaxBytes {
			return "", nil, &fault{code: tooLarge, pos: pos, message: fmt.Sprintf("the file exceeds the limit of %d bytes after variables are replaced", c.reader.MaxBytes)}
		}
		interp.moved = append(interp.moved, movedText{line: line, newColumn: pos.column + shift, width: len(fresh), column: pos.column, oldWidth: len(written), isOpen: !isKnown && (!hasComments || !isComment(text[start:]))})
		shift += len(fresh) - len(written)
		b.WriteString(fresh)
		offset += width
	}
	b.WriteString(text[offset:])
	return b.String(), interp, nil
}

// variableWidth returns the length of the reference to a variable at the start of a text, or 0 if there is
// none. The second argument is an offset after the last } of the text. The result is the same as with the
// expression variable, but each text is read only once.
func variableWidth(text string, within int) int {
	if strings.HasPrefix(text, "$$") {
		return 2
	}
	name, isBraced := 1, strings.HasPrefix(text, "${")
	if isBraced {
		name = 2
	}
	end := name
	for end < len(text) && text[end] != '-' && isNameByte(text[end]) {
		end++
	}
	switch remaining := text[end:]; {
	case end == name:
		return 0
	case !isBraced:
		return end
	case strings.HasPrefix(remaining, "}"):
		return end + 1
	case end < within && modifies.MatchString(remaining):
		return end + 1 + strings.IndexByte(remaining, '}')
	}
	return 0
}

// modifies matches the start of a default or of a message after the name of a variable.
var modifies = regexp.MustCompile(`^:?[-?]`)

// isWholeLine reports whether text[start:end], a reference to a variable, is alone on its line.
func isWholeLine(text string, start, end int) bool {
	line, _, _ := strings.Cut(text[start:], "\n")
	return strings.TrimSpace(line) == strings.TrimSpace(text[start:end]) && strings.HasPrefix(strings.TrimSpace(line), "$")
}

// hideReference returns a new placeholder for a reference with an unknown value, and records the reference.
func (interp *interpolation) hideReference(written string, line int, isWhole bool) string {
	interp.open = append(interp.open, written)
	if isWhole {
		interp.standaloneLines = append(interp.standaloneLines, line)
	}
	return fmt.Sprintf(placeholderFormat, len(interp.open)-1)
}

// resolveVariable returns the text that Vector inserts for a reference, and whether the text is known. It
// reports a variable that the container does not have, and a value that Vector rejects. If it is not certain
// that Vector replaces variables, the text is unknown.
func (c *checker) resolveVariable(written string, interp *interpolation, pos position) (value string, isKnown bool) {
	match := variable.FindStringSubmatch(written)
	name, modifier := match[1]+match[2], match[3]
	if !c.interpolates {
		return "", false
	}
	if name == "" { // $$
		return "$", true
	}
	value, state := c.findVariable(name, interp)
	alternative, hasDefault := strings.CutPrefix(strings.TrimPrefix(modifier, ":"), "-")
	isDefault := hasDefault && (state == missingValue || state == knownValue && value == "" && modifier[0] == ':')
	switch {
	case isDefault:
		return alternative, isInsertable(alternative)
	case state == missingValue:
		if !interp.isUnset[name] {
			interp.isUnset[name] = true
			interp.unset = append(interp.unset, unset{name, pos})
		}
		return "", false
	case state == rejectedValue:
		c.report(badVariable, pos, "", "the value of the variable %s has a line break, which Vector rejects since 0.%d", name, rejectsLineBreaks)
		return "", false
	case state == knownValue && value == "" && strings.HasPrefix(modifier, ":?"):
		c.report(badVariable, pos, "", "the variable %s is empty, and the configuration requires a value", name)
	}
	return value, state == knownValue
}

// rejectsLineBreaks is the first minor version of Vector 0.x that rejects values with line breaks.
const rejectsLineBreaks = 51

// findVariable returns the value of an environment variable of the container, and the state of the value.
func (c *checker) findVariable(name string, interp *interpolation) (value string, state variableState) {
	if !c.hasContainer {
		return "", openValue
	}
	text, isSet := c.container.Env[name]
	switch {
	case isSet && text.IsOpen, !isSet && (c.container.OpenEnv || c.container.defines(name)):
		return "", openValue
	case !isSet:
		return "", missingValue
	case strings.ContainsAny(text.Value, "\r\n"):
		if c.version.minor < rejectsLineBreaks {
			return "", openValue // The lines of the text would differ from the lines of the file.
		}
		return "", rejectedValue
	}
	isFit, isSeen := interp.fit[name]
	if !isSeen { // A value may be large, and used many times.
		isFit = isInsertable(text.Value)
		interp.fit[name] = isFit
	}
	if !isFit {
		return "", openValue
	}
	return text.Value, knownValue
}

// isInsertable reports whether a value can be inserted into the text, because it does not look like a
// placeholder.
func isInsertable(value string) bool { return !placeholder.MatchString(value) }

// explainsFault reports whether variables with unknown values may be the cause of a fault in a file.
func (interp *interpolation) explainsFault(failed *fault) bool {
	if failed.code == tooLarge {
		return false
	}
	return slices.ContainsFunc(interp.moved, func(m movedText) bool { return m.isOpen && m.line == failed.pos.line }) ||
		slices.ContainsFunc(interp.standaloneLines, func(line int) bool { return line <= failed.pos.line })
}

// originalPosition converts a position in the text with replaced variables to the position in the file.
func (interp *interpolation) originalPosition(pos position) position {
	i, _ := slices.BinarySearchFunc(interp.moved, pos, func(m movedText, pos position) int {
		return cmp.Or(m.line-pos.line, m.newColumn-pos.column, -1)
	})
	if i == 0 || interp.moved[i-1].line != pos.line {
		return pos
	}
	m := interp.moved[i-1]
	if pos.column < m.newColumn+m.width {
		pos.column = m.column
	} else {
		pos.column += m.column + m.oldWidth - m.newColumn - m.width
	}
	return pos
}

// restoreReferences replaces the placeholders in a parsed file by the original references, and converts all positions to
// positions in the file. A value that consists only of such references gets the form open, because it may be
// anything.
func (c *checker) restoreReferences(interp *interpolation, v *value) {
	v.pos = interp.originalPosition(v.pos)
	if (v.form == text || v.form == number || v.form == wide) && len(interp.open) > 0 {
		if written := interp.restoreText(v.scalar); written != v.scalar {
			v.scalar = written
			c.openTexts[written] = true
			if v.form != text {
				v.form = open
			}
		}
	}
	for _, item := range v.items {
		c.restoreReferences(interp, item)
	}
	for i := range v.entries {
		e := &v.entries[i]
		e.pos = interp.originalPosition(e.pos)
		if written := interp.restoreText(e.key); written != e.key {
			e.key, e.isNoText = written, false
			c.openTexts[written] = true
		}
		c.restoreReferences(interp, e.value)
	}
	if v.index != nil {
		for i := range v.entries {
			v.index[v.entries[i].key] = i
		}
	}
}

// restoreText returns a text in which placeholders are replaced by the original references.
func (interp *interpolation) restoreText(text string) string {
	if !strings.Contains(text, "8172635") {
		return text
	}
	if interp.hasOpenKeys { // In a text of several lines, the line is a part of the text.
		text = doubled.ReplaceAllString(text, "$1")
	}
	return placeholder.ReplaceAllStringFunc(text, func(match string) string {
		if n, _ := strconv.Atoi(match[7 : len(match)-1]); n < len(interp.open) {
			return interp.open[n]
		}
		return match
	})
}

// isReplaced reports whether the line of a position contains a reference to a variable, at the position or
// after it.
func (c *checker) isReplaced(pos position) bool {
	for _, interp := range c.interpolations {
		if interp.file != pos.file {
			continue
		}
		i, _ := slices.BinarySearchFunc(interp.moved, pos, func(m movedText, pos position) int {
			return cmp.Or(m.line-pos.line, m.column-pos.column)
		})
		return i < len(interp.moved) && interp.moved[i].line == pos.line
	}
	return false
}

// checkUnset reports the missing variables that were not reported for a value. References to them are in
// comments and keys, which Vector also replaces.
func (c *checker) checkUnset() {
	for _, interp := range c.interpolations {
		for _, unsetVar := range interp.unset {
			if !c.reported[unsetVar.name] {
				c.reportUnset(unsetVar.name, unsetVar.pos, "")
			}
		}
	}
}

// isUnset reports whether a file refers to a variable that the container does not have. A $ that results from
// an escape is not a reference, because Vector replaces variables before it reads escapes.
func (c *checker) isUnset(name string) bool {
	return slices.ContainsFunc(c.interpolations, func(interp *interpolation) bool { return interp.isUnset[name] })
}

// reportUnset adds a finding for a variable that the container does not set.
func (c *checker) reportUnset(name string, pos position, path string) {
	c.markReported(name)
	c.add(unsetVariable, pos, path, c.version.isKnown, "the container does not set the variable %s", name)
}
