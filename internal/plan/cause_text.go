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
	// maxCauseBytes is the maximum length of a cause in bytes. It leaves room for the rest of an event's message, which
	// has at most 1024 bytes.
	maxCauseBytes = 512
	// maxListedNames is the maximum number of names that a message lists. maxNameBytes is the maximum size of a name in
	// bytes, and maxChangeBytes the maximum size of a name with its old and its new value.
	maxListedNames, maxNameBytes, maxChangeBytes = 5, 80, 300
)

// causeText joins the causes, and the resulting changes of the pods, to one line of at most maxCauseBytes bytes.
func causeText(causes, changes []string) string {
	text := strings.Join(causes, "; ")
	if len(changes) > 0 {
		text += "; in the pods: " + summarizeNames(changes, maxChangeBytes)
	}
	return shorten(text, maxCauseBytes)
}

// summarizeNames joins the first maxListedNames names, each cut to a number of bytes, and adds the number of the other
// names.
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

// quoteText returns untrusted text in a form that is safe in one line of a terminal: shortened, and quoted if it
// contains characters that are not printable.
func quoteText(text string) string {
	return printableText(text, maxNameBytes)
}

// CauseLine returns the cause from a workload's annotation in a form that is safe in one line of a terminal. Users may
// have changed the annotation.
func CauseLine(carried string) string {
	return printableText(carried, maxCauseBytes)
}

// printableText cuts a text to a number of bytes, and quotes it if it contains characters that are not printable.
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
