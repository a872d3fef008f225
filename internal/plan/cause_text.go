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
	// mostBytes is how long a text may be: an event holds 1024, with a sentence around it.
	mostBytes = 512
	// mostNames is how many names are given of a kind, longestName how long one is, and
	// longestChange how long one is with what it was and what it is.
	mostNames, longestName, longestChange = 5, 80, 300
)

// causeText is one line of causes, and of what they change in the pods.
func causeText(causes, changes []string) string {
	text := strings.Join(causes, "; ")
	if len(changes) > 0 {
		text += "; in the pods: " + few(changes, longestChange)
	}
	return shortened(text, mostBytes)
}

// few gives the first names, each of so many bytes, and counts the rest.
func few(names []string, bytes int) string {
	rest := ""
	if len(names) > mostNames {
		rest = fmt.Sprintf(" and %d more", len(names)-mostNames)
		names = names[:mostNames]
	}
	shown := make([]string, 0, len(names))
	for _, name := range names {
		shown = append(shown, printable(name, bytes))
	}
	return strings.Join(shown, ", ") + rest
}

// quoted is a text of somebody else's as it may stand in a line: short, and quoted if
// there is anything in it that a terminal would not just show.
func quoted(text string) string {
	return printable(text, longestName)
}

// CauseLine is the line of causes that a workload carries, as it may be shown: somebody may
// have changed it.
func CauseLine(carried string) string {
	return printable(carried, mostBytes)
}

func printable(text string, bytes int) string {
	text = shortened(strings.ToValidUTF8(text, "\uFFFD"), bytes)
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(text)
	}
	return text
}

// shortened keeps a text within so many bytes.
func shortened(text string, bytes int) string {
	if len(text) <= bytes {
		return text
	}
	const more = "…"
	return strings.ToValidUTF8(text[:bytes-len(more)], "") + more
}
