// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"strconv"
	"strings"

	vectoroptions "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/options"
)

// headers contains, by the type of a sink, the option with the HTTP headers that Vector checks when it starts.
// Other headers are checked with each request or by the receiver.
var headers = map[string][]string{
	"axiom": {"request", "headers"}, "datadog_logs": {"request", "headers"}, "http": {"request", "headers"},
	"opentelemetry": {"protocol", "request", "headers"}, "prometheus_remote_write": {"request", "headers"},
}

// checkHeaders reports HTTP headers that are invalid in every request.
func (c *checker) checkHeaders(comp *component) {
	if len(headers[comp.typeName]) == 0 {
		return
	}
	path := comp.path + "." + strings.Join(headers[comp.typeName], ".")
	isCertain := c.hasOptionTable && c.version.minor == vectoroptions.Schema
	for _, e := range comp.options.get(headers[comp.typeName]...).entries {
		switch {
		case c.isDynamic(e.key):
		case !isHeaderName(e.key):
			c.add(noSuchValue, e.pos, joinPath(path, e.key), isCertain, "%q is not a valid header name", e.key, help("use letters, digits and the characters "+headerMarks))
		case e.value.form == text && !c.isOpenText(e.value.scalar) && strings.ContainsFunc(e.value.scalar, isControl):
			c.add(noSuchValue, e.value.pos, joinPath(path, e.key), isCertain, "the header %s has a control character: %s", e.key, strconv.Quote(e.value.scalar), help("write it without line breaks and control characters"))
		}
	}
}

// headerMarks are the characters, in addition to letters and digits, that are allowed in the name of a header.
const headerMarks = "!\"#$%&'*+-.^_`|~"

// isHeaderName reports whether a name is a valid name of an HTTP header.
func isHeaderName(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		isLetter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		return !isLetter && (r < '0' || r > '9') && !strings.ContainsRune(headerMarks, r)
	})
}

// isControl reports whether a character is not allowed in the value of a header.
func isControl(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }
