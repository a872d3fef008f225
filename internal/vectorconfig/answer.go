// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vectorconfig

import (
	"regexp"
	"strings"
)

// Outcome is what Vector itself has said of a configuration.
type Outcome int

// NotJudged is an end that says nothing about the configuration: Vector was killed, say.
const (
	NotJudged Outcome = iota
	Valid
	Refused
)

// exitRefused is the code that Vector ends with when it refuses a configuration.
const exitRefused = 78

// noFault matches lines that `vector validate` prints, and that say no fault: those of its
// log, headings and the lines below them, what it has accepted, advice, and where in a
// program something is, beside the program's own lines.
var noFault = regexp.MustCompile(`^(\{.*|\d{4}-\d\d-\d\dT\S+ +[A-Z]+ .*|√ .*|Validated|Failed to load .*|-+|(Component|Source|Transform|Sink|Environment|Health check)s? (errors|warnings)|=.*|[│┌·].*)?$`)

// Answer reads how `vector validate` has ended and what it printed. What is refused comes
// with Vector's own sentences on one line, all that it printed if they cannot be told.
func Answer(exitCode int, printed string) (outcome Outcome, sentences string) {
	switch exitCode {
	case 0:
		return Valid, ""
	case exitRefused:
	default:
		return NotJudged, ""
	}
	var faults []string
	for line := range strings.Lines(printed) {
		if line = strings.TrimSpace(line); !noFault.MatchString(line) {
			faults = append(faults, strings.TrimSpace(strings.TrimPrefix(line, "x ")))
		}
	}
	if len(faults) == 0 {
		return Refused, strings.TrimSpace(printed)
	}
	return Refused, strings.Join(faults, " ")
}
