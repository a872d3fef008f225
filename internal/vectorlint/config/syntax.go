// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"

	vectoroptions "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/options"
)

// syntaxes contains functions that return the fault of a text, or "" for a valid text, by the syntax of the
// option. Vector parses these texts when it reads a configuration. In case of doubt, a function accepts a text
// that Vector may reject.
var syntaxes = map[string]func(text string) string{
	"template":             wrongTemplate,
	"target_path":          wrongTargetPath,
	"value_path":           wrongValuePath,
	"optional_target_path": func(text string) string { return checkUnlessEmpty(text, wrongTargetPath) },
	"optional_value_path":  func(text string) string { return checkUnlessEmpty(text, wrongValuePath) },
	"socket_address":       wrongSocketAddress,
	"listen_address":       wrongListenAddress,
	"host_and_port":        wrongHostAndPort,
	"uri":                  wrongURI,
	"time_zone":            wrongTimeZone,
	"charset":              wrongCharset,
	"timestamp":            wrongTimestamp,
	"glob":                 wrongGlob,
	"ip_net":               wrongIPNet,
}

// checkSyntax checks the syntax of a text or the bounds of a number. The findings are certain only for the
// version of the schema.
func (c *checker) checkSyntax(path string, v *value, form vectoroptions.Form) {
	wrong := ""
	switch {
	case form.Syntax == "remap_program", strings.HasSuffix(path, ".decoding.vrl.source"):
		c.checkProgram(path, v, false)
	case v.form == number && form.Syntax != "":
		wrong = boundsProblem(v, form.Syntax)
	case v.form == text && strings.HasSuffix(path, ".multiline.start_pattern"), v.form == text && strings.HasSuffix(path, ".multiline.condition_pattern"):
		wrong = unsupportedPattern(v.scalar)
	case form.Kind == "ascii_char" && (len(v.scalar) != 1 || v.scalar[0] > unicode.MaxASCII):
		wrong = "not one character of ASCII"
	case v.form == text && syntaxes[form.Syntax] != nil:
		wrong = syntaxes[form.Syntax](v.scalar)
	}
	if wrong != "" {
		isCertain := c.hasOptionTable && c.version.minor == vectoroptions.Schema
		c.add(noSuchValue, v.pos, path, isCertain, "%s is %q: %s", path, v.scalar, wrong, help("write a value that Vector can read"))
	}
}

// boundsProblem returns the fault of a number that is not within MIN..MAX, or "" otherwise. MIN or MAX may be
// missing. If a > precedes MIN, the number must be larger than MIN.
func boundsProblem(v *value, bounds string) string {
	lower, upper, _ := strings.Cut(bounds, "..")
	lower, isBeyond := strings.CutPrefix(lower, ">")
	n, isNumber := v.float()
	low, noLow := strconv.ParseFloat(lower, 64)
	high, noHigh := strconv.ParseFloat(upper, 64)
	switch {
	case !isNumber:
	case noLow == nil && isBeyond && n <= low:
		return "has to be more than " + lower
	case noLow == nil && n < low:
		return "has to be " + lower + " or more"
	case noHigh == nil && !(n <= high): // Also for NaN.
		return "may be " + upper + " at most"
	}
	return ""
}

// checkUnlessEmpty returns the fault that a function finds in a text, or "" for an empty text, which is valid.
func checkUnlessEmpty(text string, wrong func(string) string) string {
	if text == "" {
		return ""
	}
	return wrong(text)
}

// These constants are the parts of a field path: names, quoted names and indexes. A dot or a bracket must
// follow a name. Anything may follow the other parts.
const (
	pathName   = `[A-Za-z0-9_@-]+`
	pathOther  = `(?:"(?:[^"\\]|\\["\\])*"|\[(?:[0-9]+|-[0-9]*)\])`
	pathQuoted = `"(?:[^"\\]|\\["\\])*"`
	pathIndex  = `\[(?:[0-9]+|-[0-9]*)\]`
)

var valuePath = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:\.|\.?(?:` + pathName + `|` + pathOther + `+(?:` + pathName + `)?)(?:\.(?:` + pathName + `|` + pathQuoted + pathOther + `*(?:` + pathName + `)?)|` +
		pathIndex + pathOther + `*(?:` + pathName + `)?)*)$`)
})

// wrongValuePath returns the fault of a field path, or "" for a valid path.
func wrongValuePath(text string) string {
	if valuePath().MatchString(text) {
		return ""
	}
	return "not a valid field path; a name with other characters than letters, digits, _, - and @ is written in quotes"
}

// wrongTargetPath returns the fault of the path of a field, or of metadata after a %. It returns "" for a valid path.
func wrongTargetPath(text string) string {
	if text == "%" {
		return ""
	}
	return wrongValuePath(strings.TrimPrefix(text, "%"))
}

// dateItems are the characters that may follow a % in a date format.
const dateItems = "AaBbhCcDdeFfGgHIjklMmnPpqRrSsTtUuVvWwXxYyZz%+.:#_-0123456789L"

// wrongTemplate returns the fault of a template: an invalid field path between {{ and }}, or an invalid date
// format outside of them.
func wrongTemplate(text string) string {
	end := 0
	for _, span := range field.FindAllStringIndex(text, mostInText) {
		if wrong := wrongDate(text[end:span[0]]); wrong != "" {
			return wrong
		}
		if path := strings.TrimSpace(text[span[0]+2 : span[1]-2]); wrongTargetPath(path) != "" {
			return "{{ " + path + " }} is not a valid field path"
		}
		end = span[1]
	}
	return wrongDate(text[end:])
}

// wrongDate returns the fault of the first date format in a text, such as %Y, that Vector does not know. It returns
// "" for none.
func wrongDate(text string) string {
	for {
		_, remaining, found := strings.Cut(text, "%")
		if !found {
			return ""
		}
		if remaining == "" || strings.IndexByte(dateItems, remaining[0]) < 0 {
			return "a % starts a part of the date, as in %Y-%m-%d; a percent sign is %%"
		}
		text = remaining[1:]
	}
}

// wrongSocketAddress returns the fault of a text that must be an IP address with a port, or "" for a valid text.
func wrongSocketAddress(text string) string {
	if _, err := netip.ParseAddrPort(text); err == nil {
		return ""
	}
	return "not an IP address with a port, such as 0.0.0.0:8080"
}

// wrongListenAddress returns the fault of an address to listen on. Like Vector, it also accepts systemd and
// systemd#1.
func wrongListenAddress(text string) string {
	if number, ok := strings.CutPrefix(text, "systemd#"); text == "systemd" || ok && number != "0" && number != "" {
		return ""
	}
	return wrongSocketAddress(text)
}

// wrongURI returns the fault of a URI: it is empty, contains invalid characters, or has no host.
func wrongURI(text string) string {
	switch _, afterScheme, hasScheme := strings.Cut(text, "://"); {
	case text == "":
		return "the URI is empty"
	case strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return "a URI has no whitespace"
	case hasScheme && (afterScheme == "" || afterScheme[0] == '/'):
		return "the host is missing"
	}
	return ""
}

// wrongHostAndPort returns the fault of a URI that must contain a port. The scheme is optional.
func wrongHostAndPort(text string) string {
	authority := text[len(scheme.FindString(text)):]
	if end := strings.IndexAny(authority, "/?#"); end >= 0 {
		authority = authority[:end]
	}
	_, err := strconv.ParseUint(authority[strings.LastIndexByte(authority, ':')+1:], 10, 16)
	if wrong := wrongURI(text); wrong != "" || err == nil && strings.Contains(authority, ":") {
		return wrong
	}
	return "the port is missing"
}

// wrongIPNet returns the fault of a text that must be a range of IP addresses, or "" for a valid text.
func wrongIPNet(text string) string {
	if _, err := netip.ParsePrefix(text); err == nil {
		return ""
	}
	return "not a valid range of IP addresses, such as 10.0.0.0/8 or 10.0.0.1/32"
}

// wrongTimeZone returns the fault of a text that must be the name of a time zone or local, or "" for a valid text.
func wrongTimeZone(text string) string {
	if text == "" || text == "local" {
		return ""
	}
	if isLine(timeZones, text) {
		return ""
	}
	return "unknown time zone; use an IANA name such as Europe/Vienna, or local"
}

// wrongCharset returns the fault of the label of an encoding. It ignores case and surrounding whitespace.
func wrongCharset(text string) string {
	if isLine(charsets, strings.ToLower(strings.Trim(text, " \t\n\f\r"))) {
		return ""
	}
	return "unknown encoding; use a label such as utf-8 or iso-8859-1"
}

// isLine reports whether a text is one of the lines of a file. Comments do not count.
func isLine(lines, text string) bool {
	return strings.Contains(lines, "\n"+text+"\n") && !strings.ContainsAny(text, "#\n")
}

// timestamp matches a date, a time and a zone in the format that Vector reads. It does not check the ranges of
// numbers.
var timestamp = regexp.MustCompile(`^\s*[-+]?\d+\s*-\s*\d+\s*-\s*\d+\s*[Tt ]\s*\d+\s*:\s*\d+\s*:\s*\d+(?:\.\d+)?\s*(?:(?i:z|utc)|[-+−]\d\d\s*:?\s*\d\d)\s*$`)

// wrongTimestamp returns the fault of a text that must be a time with a time zone, or "" for a valid text.
func wrongTimestamp(text string) string {
	if timestamp.MatchString(text) {
		return ""
	}
	return "not a date with a time and a zone, such as 2024-01-31T12:00:00Z"
}

// wrongGlob returns the fault of a pattern for files, or "" for a valid pattern.
func wrongGlob(text string) string {
	if isLiteral(text) {
		return "not a valid pattern: ** is a whole part of a path, and [ has a ]"
	}
	return ""
}

// unsupportedPattern returns the fault of a regular expression with syntax that Rust, and therefore Vector, does not
// support. It returns "" for none.
func unsupportedPattern(text string) string {
	inClass := false
	for i := 0; i < len(text); i++ {
		switch remaining := text[i:]; {
		case remaining[0] == '\\':
			if i++; !inClass && len(remaining) > 1 && remaining[1] >= '1' && remaining[1] <= '9' {
				return "Vector's regular expressions do not support back references, such as " + remaining[:2]
			}
		case inClass:
			inClass = remaining[0] != ']' || text[i-1] == '[' || strings.HasSuffix(text[:i], "[^")
		case remaining[0] == '[':
			inClass = true
		case strings.HasPrefix(remaining, "(?=") || strings.HasPrefix(remaining, "(?!") || strings.HasPrefix(remaining, "(?<=") || strings.HasPrefix(remaining, "(?<!") || strings.HasPrefix(remaining, "(?>"):
			return "Vector's regular expressions do not support look-around, such as " + remaining[:3]
		}
	}
	return ""
}

// conditions contains the types of a condition. The value reports whether the type needs a source.
var conditions = map[string]bool{"vrl": true, "datadog_search": true, "is_log": false, "is_metric": false, "is_trace": false}

// checkCondition checks a condition. A condition that is a text is a VRL program.
func (c *checker) checkCondition(path string, v *value) {
	if v.form == text {
		if _, isType := conditions[v.scalar]; isType {
			c.add(noSuchValue, v.pos, path, c.hasOptionTable, "%s is %q, which is the type of a condition and not a VRL program", path, v.scalar, help("write "+path[strings.LastIndexByte(path, '.')+1:]+": {type: "+v.scalar+"}"))
			return
		}
		c.checkProgram(path, v, true)
		return
	}
	typed, source := v.get("type"), v.get("source")
	hasSource, isType := conditions[typed.scalar]
	switch {
	case typed.form == open || typed.form == text && c.isDynamic(typed.scalar) || typed.form == null && c.hasOpenKey(v):
	case typed.form == null:
		c.add(missingOption, v.pos, path, c.hasOptionTable, "%s needs type", path)
	case typed.form != text || !isType:
		c.add(noSuchValue, typed.pos, path+".type", c.hasOptionTable, "%s.type is %q, and not one of datadog_search, is_log, is_metric, is_trace, vrl", path, typed.scalar)
	case typed.scalar == "vrl" && v.hasKey("runtime") && v.get("runtime").form != open && v.get("runtime").scalar != "ast":
		c.add(noSuchValue, v.get("runtime").pos, path+".runtime", c.hasOptionTable, "%s.runtime is not ast, the only supported runtime", path)
	case hasSource && source.form == null && c.hasOpenKey(v):
	case hasSource && source.form == null:
		c.add(missingOption, v.pos, path, c.hasOptionTable, "%s needs source", path)
	case typed.scalar == "vrl" && source.form == text:
		c.checkProgram(path+".source", source, true)
	case hasSource && source.form != text && source.form != wide && source.form != open:
		c.add(wrongForm, source.pos, path+".source", c.hasOptionTable, "%s.source is %s, and not a string", path, source.form.formNoun())
	case typed.scalar == "datadog_search" && source.form == text && !c.isDynamic(source.scalar):
		if wrong := wrongSearch(source.scalar); wrong != "" {
			c.add(noSuchValue, source.pos, path+".source", c.hasOptionTable && c.version.minor == vectoroptions.Schema, "%s.source is %q: %s", path, source.scalar, wrong, help("see docs.datadoghq.com/logs/explorer/search_syntax"))
		}
	}
}
