// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vectorconfig

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
)

// mostVariables is how many variables a file may have.
const mostVariables = 10_000

// A value that is not known yet is a number while the file is parsed: that may stand in a
// quoted text, by itself, and in a key, in each of the formats.
const placeholderFormat = "8172635%06d9"

var placeholder = regexp.MustCompile(`8172635(\d{6})9`)

// interpolation is a file whose variables are replaced as Vector does it, in the text,
// before it is parsed.
type interpolation struct {
	file int
	// open are the variables whose value is not known, as they were written, by the number
	// in their placeholder.
	open []string
	// moved are the places where another text stands now, in order.
	moved []moved
	// unset are the variables that the container has not, where each is asked for first.
	unset   []unset
	isUnset map[string]bool
	// alone are the lines that are nothing but a variable that is not known.
	alone []int
	// fit tells of variables of the container whether their value is replaceable.
	fit map[string]bool
}

// moved is a text of another width: line, and column in the new text and in the file.
type moved struct {
	line, now, width, column, was int
	isOpen                        bool
}

// unset is a variable that the container has not, and where it is asked for.
type unset struct {
	name string
	at   position
}

// mayInterpolate reports whether variables are replaced, or may be: who says so may not
// be known yet.
func (c *checker) mayInterpolate() bool {
	return c.interpolates || !c.version.known || c.version.minor >= interpolatedUntil && c.container.mayHave("VECTOR_DANGEROUSLY_ALLOW_ENV_VAR_INTERPOLATION")
}

// hasOpenKey reports whether a table has a key that may become any other.
func (c *checker) hasOpenKey(v *value) bool {
	return slices.ContainsFunc(v.entries, func(e entry) bool { return c.isDynamic(e.key) })
}

// parseFile reads a file with its variables replaced. What cannot be read as it stands may
// be fine with the values of variables that are not known: then it is a warning.
func (c *checker) parseFile(number int) *value {
	file := c.files[number]
	var in *interpolation
	if c.mayInterpolate() && strings.IndexByte(file.Text, '$') >= 0 {
		text, replaced, failed := c.interpolate(file.Text, number)
		if failed != nil {
			c.report(failed.code, failed.at, "", "%s", failed.message)
			return nil
		}
		file.Text, in = text, replaced
	}
	tree, failed := parse(file, number)
	if failed != nil {
		failed.at = in.origin(failed.at)
		c.add(failed.code, failed.at, "", !failed.isMild && !in.explains(failed), "%s", failed.message, failed.help)
	}
	if tree == nil {
		return nil
	}
	in.restore(tree)
	if !tree.fitsTOML() {
		c.checkFitsTOML("", tree)
	}
	c.interpolations = append(c.interpolations, in)
	return tree
}

// interpolate replaces what is known, and puts placeholders for the rest.
func (c *checker) interpolate(text string, file int) (string, *interpolation, *fault) {
	in := &interpolation{file: file, fit: map[string]bool{}, isUnset: map[string]bool{}}
	var b strings.Builder
	b.Grow(len(text))
	braces := strings.LastIndexByte(text, '}') + 1
	at, line, start, shift := 0, 1, 0, 0 // start is where the line begins, shift how much longer it is now.
	for count := 0; ; count++ {
		next := strings.IndexByte(text[at:], '$')
		if next < 0 {
			break
		}
		if breaks := strings.Count(text[at:at+next], "\n"); breaks > 0 {
			line, start, shift = line+breaks, at+strings.LastIndexByte(text[at:at+next], '\n')+1, 0
		}
		b.WriteString(text[at : at+next])
		at += next
		width := variableWidth(text[at:], braces-at)
		if width == 0 {
			b.WriteByte('$')
			at++
			continue
		}
		if count >= mostVariables {
			return "", nil, &fault{code: tooLarge, at: position{file: file, line: line, column: 1}, message: fmt.Sprintf("more than %d variables", mostVariables)}
		}
		written := text[at : at+width]
		here := position{file: file, line: line, column: at - start + 1}
		fresh, isKnown := c.valueOf(written, in, here)
		if !isKnown {
			fresh = in.hide(written, line, isAlone(text, start, at+width))
		}
		if limits := bounded.Configuration(); b.Len()+len(fresh) > limits.Bytes {
			return "", nil, &fault{code: tooLarge, at: here, message: fmt.Sprintf("with its variables replaced it has more bytes than %s may have (%d)", limits.What, limits.Bytes)}
		}
		in.moved = append(in.moved, moved{line: line, now: here.column + shift, width: len(fresh), column: here.column, was: len(written), isOpen: !isKnown})
		shift += len(fresh) - len(written)
		b.WriteString(fresh)
		at += width
	}
	b.WriteString(text[at:])
	return b.String(), in, nil
}

// variableWidth is how long the variable is that a text begins with, 0 if it begins with
// none. No } is behind within. It finds what the expression variable does, and looks at no
// text twice.
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
	switch rest := text[end:]; {
	case end == name:
		return 0
	case !isBraced:
		return end
	case strings.HasPrefix(rest, "}"):
		return end + 1
	case end < within && modifies.MatchString(rest):
		return end + 1 + strings.IndexByte(rest, '}')
	}
	return 0
}

// modifies begins a default or a message behind a variable's name.
var modifies = regexp.MustCompile(`^:?[-?]`)

// isAlone reports whether what stands in a line up to end is a variable and nothing else.
func isAlone(text string, start, end int) bool {
	line, _, _ := strings.Cut(text[start:], "\n")
	return strings.TrimSpace(line) == strings.TrimSpace(text[start:end]) && strings.HasPrefix(strings.TrimSpace(line), "$")
}

// hide is a placeholder for what is not known.
func (in *interpolation) hide(written string, line int, isAlone bool) string {
	in.open = append(in.open, written)
	if isAlone {
		in.alone = append(in.alone, line)
	}
	return fmt.Sprintf(placeholderFormat, len(in.open)-1)
}

// valueOf is what a variable stands for, as far as that is known. It notes one that the
// container has not. Nothing is known where it is not certain that Vector replaces it.
func (c *checker) valueOf(written string, in *interpolation, at position) (value string, isKnown bool) {
	match := variable.FindStringSubmatch(written)
	name, modifier := match[1]+match[2], strings.TrimPrefix(match[3], ":")
	if name == "" || !c.interpolates || c.container == nil {
		return "", false
	}
	value, isSet := c.container.Env[name]
	switch {
	case isSet:
		isFit, isSeen := in.fit[name]
		if !isSeen { // A value may be large, and asked for many times.
			isFit = isReplaceable(value)
			in.fit[name] = isFit
		}
		return value, isFit && value != "" // An empty one may come from elsewhere.
	case c.container.OpenEnv || c.container.defines(name):
		return "", false
	case strings.HasPrefix(modifier, "-"):
		return modifier[1:], isReplaceable(modifier[1:])
	default:
		if !in.isUnset[name] {
			in.isUnset[name] = true
			in.unset = append(in.unset, unset{name, at})
		}
		return "", false
	}
}

// isReplaceable reports whether a value is as it will be in the text: what has another
// variable in it is replaced no further, or only by the kubelet.
func isReplaceable(value string) bool {
	return !strings.ContainsAny(value, "$\r\n") && !placeholder.MatchString(value)
}

// explains reports whether variables that are not known may be why a file cannot be read.
func (in *interpolation) explains(failed *fault) bool {
	if in == nil || failed.code == tooLarge {
		return false
	}
	return slices.ContainsFunc(in.moved, func(m moved) bool { return m.isOpen && m.line == failed.at.line }) ||
		slices.ContainsFunc(in.alone, func(line int) bool { return line <= failed.at.line })
}

// origin is where something stood before variables were replaced.
func (in *interpolation) origin(at position) position {
	if in == nil {
		return at
	}
	next, _ := slices.BinarySearchFunc(in.moved, at, func(m moved, at position) int {
		return cmp.Or(m.line-at.line, m.now-at.column, -1)
	})
	if next == 0 || in.moved[next-1].line != at.line {
		return at
	}
	m := in.moved[next-1]
	if at.column < m.now+m.width {
		at.column = m.column
	} else {
		at.column += m.column + m.was - m.now - m.width
	}
	return at
}

// restore writes the variables that are not known back into what was parsed, and mends
// its positions. A value that is nothing but such variables is open: it may be anything.
func (in *interpolation) restore(v *value) {
	if in == nil {
		return
	}
	v.at = in.origin(v.at)
	if (v.form == text || v.form == number || v.form == wide) && len(in.open) > 0 {
		if written := in.written(v.scalar); written != v.scalar {
			v.scalar = written
			if v.form != text {
				v.form = open
			}
		}
	}
	for _, item := range v.items {
		in.restore(item)
	}
	for i := range v.entries {
		e := &v.entries[i]
		e.at = in.origin(e.at)
		if written := in.written(e.key); written != e.key {
			e.key, e.isNoText = written, false
		}
		in.restore(e.value)
	}
	if v.index != nil {
		for i := range v.entries {
			v.index[v.entries[i].key] = i
		}
	}
}

// written is a text with its variables in the place of placeholders.
func (in *interpolation) written(text string) string {
	if !strings.Contains(text, "8172635") {
		return text
	}
	return placeholder.ReplaceAllStringFunc(text, func(found string) string {
		if n, _ := strconv.Atoi(found[7 : len(found)-1]); n < len(in.open) {
			return in.open[n]
		}
		return found
	})
}

// isReplaced reports whether a variable stood in the line of a value, at it or behind it.
func (c *checker) isReplaced(at position) bool {
	for _, in := range c.interpolations {
		if in == nil || in.file != at.file {
			continue
		}
		next, _ := slices.BinarySearchFunc(in.moved, at, func(m moved, at position) int {
			return cmp.Or(m.line-at.line, m.column-at.column)
		})
		return next < len(in.moved) && in.moved[next].line == at.line
	}
	return false
}

// checkUnset finds the variables that the container has not and that no value has told of:
// those in comments and keys, which Vector asks for as well.
func (c *checker) checkUnset() {
	for _, in := range c.interpolations {
		if in == nil {
			continue
		}
		for _, one := range in.unset {
			if !c.told[one.name] {
				c.tellUnset(one.name, one.at, "")
			}
		}
	}
}

// isUnset reports whether a file asks for a variable that the container has not. A $ that is
// written as an escape asks for nothing: Vector replaces variables before it reads those.
func (c *checker) isUnset(name string) bool {
	return slices.ContainsFunc(c.interpolations, func(in *interpolation) bool { return in != nil && in.isUnset[name] })
}

func (c *checker) tellUnset(name string, at position, path string) {
	c.tell(name)
	c.add(unsetVariable, at, path, c.version.known, "the container has no variable %s", name)
}
