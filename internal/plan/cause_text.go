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
	// mostBytes bounds a text: an event message holds 1024 bytes, and has a sentence
	// around it.
	mostBytes = 512
	// mostNames is how many names are listed of a kind, longestName the bytes of one,
	// and longestChange the bytes of one with its old and new value.
	mostNames, longestName, longestChange = 5, 80, 300
)

// causeText joins causes, and the pod changes they make, in one line.
func causeText(causes, changes []string) string {
	text := strings.Join(causes, "; ")
	if len(changes) > 0 {
		text += "; in the pods: " + few(changes, longestChange)
	}
	return shortened(text, mostBytes)
}

// few lists the first names, each cut to a number of bytes, and counts the rest.
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

// quoted makes untrusted text safe for one line: shortened, and quoted if a terminal
// might interpret any of it.
func quoted(text string) string {
	return printable(text, longestName)
}

// CauseLine is the cause from a workload's annotation made safe to show: somebody may
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

// shortened cuts a text to a number of bytes.
func shortened(text string, bytes int) string {
	if len(text) <= bytes {
		return text
	}
	const more = "…"
	return strings.ToValidUTF8(text[:bytes-len(more)], "") + more
}
