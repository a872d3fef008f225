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
	// mostBytes limits the size of a text. An event message is limited to 1024 bytes and contains the text in a
	// sentence.
	mostBytes = 512
	// mostNames is the maximum number of listed names. longestName limits the bytes of a name, and
	// longestChange the bytes of a name with its old and new value.
	mostNames, longestName, longestChange = 5, 80, 300
)

// causeText joins causes, and the pod changes that they make, in one line.
func causeText(causes, changes []string) string {
	text := strings.Join(causes, "; ")
	if len(changes) > 0 {
		text += "; in the pods: " + summarizeNames(changes, longestChange)
	}
	return shorten(text, mostBytes)
}

// summarizeNames lists the first names, each cut to a number of bytes, and counts the other names.
func summarizeNames(names []string, bytes int) string {
	suffix := ""
	if len(names) > mostNames {
		suffix = fmt.Sprintf(" and %d more", len(names)-mostNames)
		names = names[:mostNames]
	}
	shown := make([]string, 0, len(names))
	for _, name := range names {
		shown = append(shown, printable(name, bytes))
	}
	return strings.Join(shown, ", ") + suffix
}

// quoteText makes untrusted text safe for one line. It shortens the text, and quotes it if a terminal might
// interpret a part of it.
func quoteText(text string) string {
	return printable(text, longestName)
}

// CauseLine returns the cause in a workload's annotation as safe text, because users may have changed the
// annotation.
func CauseLine(carried string) string {
	return printable(carried, mostBytes)
}

func printable(text string, bytes int) string {
	text = shorten(strings.ToValidUTF8(text, "\uFFFD"), bytes)
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(text)
	}
	return text
}

// shorten cuts a text to a number of bytes.
func shorten(text string, bytes int) string {
	if len(text) <= bytes {
		return text
	}
	const ellipsis = "…"
	return strings.ToValidUTF8(text[:bytes-len(ellipsis)], "") + ellipsis
}
