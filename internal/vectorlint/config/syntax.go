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

// syntaxes are functions that return the fault of a text that Vector parses when it reads a configuration; "" for
// none. If a function and Vector could differ, the function rejects less.
var syntaxes = map[string]func(text string) string{
	"template":             wrongTemplate,
	"target_path":          wrongTargetPath,
	"value_path":           wrongValuePath,
	"optional_target_path": func(text string) string { return unlessEmpty(text, wrongTargetPath) },
	"optional_value_path":  func(text string) string { return unlessEmpty(text, wrongValuePath) },
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

// judgeSyntax checks the syntax of a text or the bounds of a number. They are known for the version of the schema
// only.
func (c *checker) judgeSyntax(path string, v *value, form vectoroptions.Form) {
	wrong := ""
	switch {
	case form.Syntax == "remap_program", strings.HasSuffix(path, ".decoding.vrl.source"):
		c.judgeProgram(path, v, false)
	case v.form == number && form.Syntax != "":
		wrong = outOfBounds(v, form.Syntax)
	case v.form == text && strings.HasSuffix(path, ".multiline.start_pattern"), v.form == text && strings.HasSuffix(path, ".multiline.condition_pattern"):
		wrong = rustLacks(v.scalar)
	case form.Kind == "ascii_char" && (len(v.scalar) != 1 || v.scalar[0] > unicode.MaxASCII):
		wrong = "not one character of ASCII"
	case v.form == text && syntaxes[form.Syntax] != nil:
		wrong = syntaxes[form.Syntax](v.scalar)
	}
	if wrong != "" {
		isCertain := c.isTabled && c.version.minor == vectoroptions.Schema
		c.add(noSuchValue, v.at, path, isCertain, "%s is %q: %s", path, v.scalar, wrong, help("write one that Vector can read"))
	}
}

// outOfBounds checks a number against MIN..MAX. One of them may be missing. A > before MIN excludes MIN itself.
func outOfBounds(v *value, bounds string) string {
	least, most, _ := strings.Cut(bounds, "..")
	least, isBeyond := strings.CutPrefix(least, ">")
	n, isNumber := v.float()
	low, noLow := strconv.ParseFloat(least, 64)
	high, noHigh := strconv.ParseFloat(most, 64)
	switch {
	case !isNumber:
	case noLow == nil && isBeyond && n <= low:
		return "has to be more than " + least
	case noLow == nil && n < low:
		return "has to be " + least + " or more"
	case noHigh == nil && !(n <= high): // Also for NaN.
		return "may be " + most + " at most"
	}
	return ""
}

func unlessEmpty(text string, wrong func(string) string) string {
	if text == "" {
		return ""
	}
	return wrong(text)
}

// The path of a field: names, quoted names and indexes. A name must be followed by a dot or a bracket. The other parts
// may be followed by anything.
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

func wrongValuePath(text string) string {
	if valuePath().MatchString(text) {
		return ""
	}
	return "not a valid field path; a name with other characters than letters, digits, _, - and @ is written in quotes"
}

// wrongTargetPath requires the path of a field, or of metadata behind a %.
func wrongTargetPath(text string) string {
	if text == "%" {
		return ""
	}
	return wrongValuePath(strings.TrimPrefix(text, "%"))
}

// dateItems are the letters and signs behind a % that a date may have.
const dateItems = "AaBbhCcDdeFfGgHIjklMmnPpqRrSsTtUuVvWwXxYyZz%+.:#_-0123456789L"

// wrongTemplate requires paths of fields between {{ and }}, and valid dates in the rest.
func wrongTemplate(text string) string {
	end := 0
	for _, at := range field.FindAllStringIndex(text, mostInText) {
		if wrong := wrongDate(text[end:at[0]]); wrong != "" {
			return wrong
		}
		if path := strings.TrimSpace(text[at[0]+2 : at[1]-2]); wrongTargetPath(path) != "" {
			return "{{ " + path + " }} is not a valid field path"
		}
		end = at[1]
	}
	return wrongDate(text[end:])
}

func wrongDate(text string) string {
	for {
		_, rest, found := strings.Cut(text, "%")
		if !found {
			return ""
		}
		if rest == "" || strings.IndexByte(dateItems, rest[0]) < 0 {
			return "a % starts a part of the date, as in %Y-%m-%d; a percent sign is %%"
		}
		text = rest[1:]
	}
}

func wrongSocketAddress(text string) string {
	if _, err := netip.ParseAddrPort(text); err == nil {
		return ""
	}
	return "not an IP address with a port, such as 0.0.0.0:8080"
}

// wrongListenAddress also accepts systemd and systemd#1.
func wrongListenAddress(text string) string {
	if number, ok := strings.CutPrefix(text, "systemd#"); text == "systemd" || ok && number != "0" && number != "" {
		return ""
	}
	return wrongSocketAddress(text)
}

// wrongURI finds characters that are not valid in a URI.
func wrongURI(text string) string {
	switch _, rest, hasScheme := strings.Cut(text, "://"); {
	case text == "":
		return "the URI is empty"
	case strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return "a URI has no blanks"
	case hasScheme && (rest == "" || rest[0] == '/'):
		return "the host is missing"
	}
	return ""
}

// wrongHostAndPort requires a URI with a port. The scheme is optional.
func wrongHostAndPort(text string) string {
	rest := text[len(scheme.FindString(text)):]
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	_, err := strconv.ParseUint(rest[strings.LastIndexByte(rest, ':')+1:], 10, 16)
	if wrong := wrongURI(text); wrong != "" || err == nil && strings.Contains(rest, ":") {
		return wrong
	}
	return "the port is missing"
}

func wrongIPNet(text string) string {
	if _, err := netip.ParsePrefix(text); err == nil {
		return ""
	}
	return "not a valid range of IP addresses, such as 10.0.0.0/8 or 10.0.0.1/32"
}

func wrongTimeZone(text string) string {
	if text == "" || text == "local" {
		return ""
	}
	if isLine(timeZones, text) {
		return ""
	}
	return "unknown time zone; use an IANA name such as Europe/Vienna, or local"
}

// wrongCharset requires the label of an encoding, in letters of any case, with or without blanks around it.
func wrongCharset(text string) string {
	if isLine(charsets, strings.ToLower(strings.Trim(text, " \t\n\f\r"))) {
		return ""
	}
	return "unknown encoding; use a label such as utf-8 or iso-8859-1"
}

// isLine reports whether a text is one of several lines, and not a comment.
func isLine(of, text string) bool {
	return strings.Contains(of, "\n"+text+"\n") && !strings.ContainsAny(text, "#\n")
}

// timestamp is a date, a time and a zone as Vector reads them. It does not check the ranges of numbers.
var timestamp = regexp.MustCompile(`^\s*[-+]?\d+\s*-\s*\d+\s*-\s*\d+\s*[Tt ]\s*\d+\s*:\s*\d+\s*:\s*\d+(?:\.\d+)?\s*(?:(?i:z|utc)|[-+−]\d\d\s*:?\s*\d\d)\s*$`)

func wrongTimestamp(text string) string {
	if timestamp.MatchString(text) {
		return ""
	}
	return "not a date with a time and a zone, such as 2024-01-31T12:00:00Z"
}

func wrongGlob(text string) string {
	if isLiteral(text) {
		return "not a valid pattern: ** is a whole part of a path, and [ has a ]"
	}
	return ""
}

// rustLacks finds syntax in a regular expression that Rust's regular expressions do not have.
func rustLacks(text string) string {
	inClass := false
	for at := 0; at < len(text); at++ {
		switch rest := text[at:]; {
		case rest[0] == '\\':
			if at++; !inClass && len(rest) > 1 && rest[1] >= '1' && rest[1] <= '9' {
				return "Vector's regular expressions do not support back references, such as " + rest[:2]
			}
		case inClass:
			inClass = rest[0] != ']' || text[at-1] == '[' || strings.HasSuffix(text[:at], "[^")
		case rest[0] == '[':
			inClass = true
		case strings.HasPrefix(rest, "(?=") || strings.HasPrefix(rest, "(?!") || strings.HasPrefix(rest, "(?<=") || strings.HasPrefix(rest, "(?<!") || strings.HasPrefix(rest, "(?>"):
			return "Vector's regular expressions do not support look-around, such as " + rest[:3]
		}
	}
	return ""
}

// conditions are the types of a condition, and whether the type has a source.
var conditions = map[string]bool{"vrl": true, "datadog_search": true, "is_log": false, "is_metric": false, "is_trace": false}

// judgeCondition checks a condition against its types. A text is a VRL program.
func (c *checker) judgeCondition(path string, v *value) {
	if v.form == text {
		if _, isType := conditions[v.scalar]; isType {
			c.add(noSuchValue, v.at, path, c.isTabled, "%s is %q, which is the type of a condition and not a VRL program", path, v.scalar, help("write "+path[strings.LastIndexByte(path, '.')+1:]+": {type: "+v.scalar+"}"))
			return
		}
		c.judgeProgram(path, v, true)
		return
	}
	typed, source := v.get("type"), v.get("source")
	hasSource, isType := conditions[typed.scalar]
	switch {
	case typed.form == open || typed.form == text && c.isDynamic(typed.scalar) || typed.form == null && c.hasOpenKey(v):
	case typed.form == null:
		c.add(missingOption, v.at, path, c.isTabled, "%s needs type", path)
	case typed.form != text || !isType:
		c.add(noSuchValue, typed.at, path+".type", c.isTabled, "%s.type is %q, and not one of datadog_search, is_log, is_metric, is_trace, vrl", path, typed.scalar)
	case typed.scalar == "vrl" && v.has("runtime") && v.get("runtime").form != open && v.get("runtime").scalar != "ast":
		c.add(noSuchValue, v.get("runtime").at, path+".runtime", c.isTabled, "%s.runtime is not ast, the only supported runtime", path)
	case hasSource && source.form == null && c.hasOpenKey(v):
	case hasSource && source.form == null:
		c.add(missingOption, v.at, path, c.isTabled, "%s needs source", path)
	case typed.scalar == "vrl" && source.form == text:
		c.judgeProgram(path+".source", source, true)
	case hasSource && source.form != text && source.form != wide && source.form != open:
		c.add(wrongForm, source.at, path+".source", c.isTabled, "%s.source is %s, and not a text", path, source.form.noun())
	case typed.scalar == "datadog_search" && source.form == text && !c.isDynamic(source.scalar):
		if wrong := wrongSearch(source.scalar); wrong != "" {
			c.add(noSuchValue, source.at, path+".source", c.isTabled && c.version.minor == vectoroptions.Schema, "%s.source is %q: %s", path, source.scalar, wrong, help("see docs.datadoghq.com/logs/explorer/search_syntax"))
		}
	}
}
