// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// firstWithoutEnvironment is the first 0.x where `vector validate --no-environment` compiles VRL.
const firstWithoutEnvironment = 57

// ValidateMode is the way to run `vector validate` of a version, so that it compiles VRL.
type ValidateMode struct {
	// Args are its arguments, before the files.
	Args []string
	// Builds reports whether it builds the components. For that it needs data_dir and all files that the configuration
	// names.
	Builds bool
	// Unchecked names the checks that it does not make: "whether …".
	Unchecked string
}

// ValidateModeFor returns the mode for Vector of an image. An image without a version in its tag has the mode of the
// newest version.
func ValidateModeFor(image string) ValidateMode {
	if version := parseImageVersion(image); version.isKnown && version.minor < firstWithoutEnvironment {
		return ValidateMode{
			Args: []string{"validate", "--skip-healthchecks"}, Builds: true,
			Unchecked: "whether sinks can be reached, and files that it names in ConfigMaps are there",
		}
	}
	return ValidateMode{
		Args:      []string{"validate", "--no-environment", "--skip-healthchecks"},
		Unchecked: "whether sinks can be reached, their templates are confined (VSC405), and files that it names are there",
	}
}

// Outcome is Vector's own result for a configuration.
type Outcome int

// NotJudged is a result without a statement about the configuration, for example because Vector was killed, or a file
// that the configuration names does not exist.
const (
	NotJudged Outcome = iota
	Valid
	Refused
)

// Answer is Vector's own result for a configuration, with the faults.
type Answer struct {
	Outcome Outcome
	// Faults are Vector's own sentences, each fault on one line: the reasons why it rejects the configuration, or why
	// it could not check it.
	Faults []string
}

// String returns the faults on one line.
func (a *Answer) String() string { return strings.Join(a.Faults, " ") }

// exitRefused is the exit code of Vector if it rejects a configuration.
const exitRefused = 78

// faultMark is the start of each fault.
const faultMark = "x "

var (
	// noFault matches lines of `vector validate` that do not contain a fault: the log, headings and the lines below
	// them, accepted parts, advice, and positions in a VRL program next to its lines. It is compiled at its first use,
	// because few operators run `vector validate`.
	noFault = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(\{.*|\d{4}-\d\d-\d\dT\S+ +[A-Z]+ .*|√ .*|Validated|Failed to load .*|-+|(Component|Source|Transform|Sink|Environment|Health check)s? (errors|warnings)|=.*|[│┌·].*)?$`)
	})
	// missing matches faults of the place where Vector runs, instead of the configuration.
	missing = regexp.MustCompile(`\(os error \d+\)|^data_dir "[^"]*" does not exist$`)
)

// ReadAnswer reads the exit code and the output of `vector validate`. If the faults of a rejection cannot be
// separated, the whole output is one fault.
func ReadAnswer(exitCode int, printed string) Answer {
	switch exitCode {
	case 0:
		return Answer{Outcome: Valid}
	case exitRefused:
	default:
		return Answer{}
	}
	faults := faultsIn(printed)
	if len(faults) == 0 {
		return Answer{Refused, []string{strings.TrimSpace(printed)}}
	}
	configFaults := slices.DeleteFunc(slices.Clone(faults), missing.MatchString)
	if len(configFaults) == 0 {
		return Answer{NotJudged, faults}
	}
	return Answer{Refused, configFaults}
}

// faultsIn returns the faults that Vector printed, each once.
func faultsIn(printed string) []string {
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
