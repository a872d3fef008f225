// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

const (
	// maxCauseBytes is the maximum length of a cause in bytes. An event contains the cause in a sentence of at most 1024
	// bytes.
	maxCauseBytes = 512
	// maxListedNames is the maximum number of listed names. maxNameBytes is the maximum size of a name in bytes, and
	// maxChangeBytes the maximum size of a name with its old and new value.
	maxListedNames, maxNameBytes, maxChangeBytes = 5, 80, 300
)

// causeText returns causes, and the changes of the pods that result from them, in one line.
func causeText(causes, changes []string) string {
	text := strings.Join(causes, "; ")
	if len(changes) > 0 {
		text += "; in the pods: " + summarizeNames(changes, maxChangeBytes)
	}
	return shorten(text, maxCauseBytes)
}

// summarizeNames returns a list of the first names and the number of the other names. Each name is cut to a
// number of bytes.
func summarizeNames(names []string, bytes int) string {
	suffix := ""
	if len(names) > maxListedNames {
		suffix = fmt.Sprintf(" and %d more", len(names)-maxListedNames)
		names = names[:maxListedNames]
	}
	shown := make([]string, 0, len(names))
	for _, name := range names {
		shown = append(shown, printableText(name, bytes))
	}
	return strings.Join(shown, ", ") + suffix
}

// quoteText returns untrusted text in a form that is safe in one line. It shortens the text, and quotes it if
// it contains characters that a terminal might interpret.
func quoteText(text string) string {
	return printableText(text, maxNameBytes)
}

// CauseLine returns the cause in a workload's annotation in a form that is safe in one line, because users may
// have changed the annotation.
func CauseLine(carried string) string {
	return printableText(carried, maxCauseBytes)
}

func printableText(text string, bytes int) string {
	text = shorten(strings.ToValidUTF8(text, "\uFFFD"), bytes)
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(text)
	}
	return text
}

// shorten cuts a text to a maximum number of bytes.
func shorten(text string, bytes int) string {
	if len(text) <= bytes {
		return text
	}
	const ellipsis = "…"
	return strings.ToValidUTF8(text[:bytes-len(ellipsis)], "") + ellipsis
}
