// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// firstWithoutEnvironment is the first minor version of Vector 0.x in which `vector validate --no-environment`
// compiles VRL.
const firstWithoutEnvironment = 57

// ValidateMode describes how to run `vector validate` of a Vector version so that it compiles VRL.
type ValidateMode struct {
	// Args are the arguments before the names of the files.
	Args []string
	// Builds reports whether `vector validate` builds the components. It then needs data_dir and all files that
	// the configuration names.
	Builds bool
	// Unchecked describes the checks that `vector validate` skips, as a clause that starts with "whether".
	Unchecked string
}

// ValidateModeFor returns the mode for the Vector version of an image. If the image's tag does not contain a
// version, it returns the mode for the newest version.
func ValidateModeFor(image string) ValidateMode {
	if version := parseImageVersion(image); version.isKnown && version.minor < firstWithoutEnvironment {
		return ValidateMode{
			Args: []string{"validate", "--skip-healthchecks"}, Builds: true,
			Unchecked: "whether sinks are reachable, and whether files that the configuration names in ConfigMaps exist",
		}
	}
	return ValidateMode{
		Args:      []string{"validate", "--no-environment", "--skip-healthchecks"},
		Unchecked: "whether sinks are reachable, whether their templates are confined (VSC405), and whether files that the configuration names exist",
	}
}

// Outcome is the result of `vector validate` for a configuration.
type Outcome int

// NotJudged means that `vector validate` did not decide whether the configuration is valid. Vector was killed,
// for example, or a file that the configuration names does not exist.
const (
	NotJudged Outcome = iota
	Valid
	Rejected
)

// Answer is the outcome and the printed faults of `vector validate`.
type Answer struct {
	Outcome Outcome
	// Faults are the sentences that Vector printed, one fault in each item. They explain why Vector rejects the
	// configuration, or why it could not check the configuration.
	Faults []string
}

// String returns all faults on one line.
func (a *Answer) String() string { return strings.Join(a.Faults, " ") }

// exitRejected is the exit code of `vector validate` if it rejects the configuration.
const exitRejected = 78

// faultMark is the prefix of the first line of each fault.
const faultMark = "x "

var (
	// noFault matches the lines in the output of `vector validate` that do not contain a fault. They are log
	// lines, headings and the lines below them, accepted parts, advice, and markers next to the lines of a VRL
	// program. The expression is compiled at its first use, because few operators run `vector validate`.
	noFault = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(\{.*|\d{4}-\d\d-\d\dT\S+ +[A-Z]+ .*|√ .*|Validated|Failed to load .*|-+|(Component|Source|Transform|Sink|Environment|Health check)s? (errors|warnings)|=.*|[│┌·].*)?$`)
	})
	// missing matches faults about the environment of Vector, such as a missing file, and not about the
	// configuration.
	missing = regexp.MustCompile(`\(os error \d+\)|^data_dir "[^"]*" does not exist$`)
)

// ReadAnswer returns the answer for the exit code and the output of `vector validate`. The outcome is NotJudged for
// an unknown exit code, and if all faults concern the environment. If Vector rejects the configuration and the output
// cannot be split into faults, the whole output is one fault.
func ReadAnswer(exitCode int, printed string) Answer {
	switch exitCode {
	case 0:
		return Answer{Outcome: Valid}
	case exitRejected:
	default:
		return Answer{}
	}
	faults := parseFaults(printed)
	if len(faults) == 0 {
		return Answer{Rejected, []string{strings.TrimSpace(printed)}}
	}
	configFaults := slices.DeleteFunc(slices.Clone(faults), missing.MatchString)
	if len(configFaults) == 0 {
		return Answer{NotJudged, faults}
	}
	return Answer{Rejected, configFaults}
}

// parseFaults returns the faults in the output of Vector without duplicates.
func parseFaults(printed string) []string {
	var faults []string
	for line := range strings.Lines(printed) {
		line = strings.TrimSpace(line)
		text, isFirst := strings.CutPrefix(line, faultMark)
		switch text = strings.TrimSpace(text); {
		case noFault().MatchString(line):
		case isFirst || len(faults) == 0:
			faults = append(faults, text)
		default:
			faults[len(faults)-1] += " " + text
		}
	}
	var unique []string
	for _, fault := range faults {
		if !slices.Contains(unique, fault) {
			unique = append(unique, fault)
		}
	}
	return unique
}
