// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// firstWithoutEnvironment is the first 0.x whose `vector validate --no-environment` compiles
// VRL.
const firstWithoutEnvironment = 57

// ValidateMode is how `vector validate` of a version is asked, so that it compiles VRL.
type ValidateMode struct {
	// Args are its arguments, before the files.
	Args []string
	// Builds reports whether it builds the components, which needs data_dir, and whatever
	// files the configuration names.
	Builds bool
	// Unseen says what it does not look at: "whether …".
	Unseen string
}

// ValidateModeOf returns how Vector of an image is asked; one whose tag tells no version is
// asked as the newest.
func ValidateModeOf(image string) ValidateMode {
	if version := versionOf(image); version.known && version.minor < firstWithoutEnvironment {
		return ValidateMode{
			Args: []string{"validate", "--skip-healthchecks"}, Builds: true,
			Unseen: "whether sinks can be reached, and files that it names in ConfigMaps are there",
		}
	}
	return ValidateMode{
		Args:   []string{"validate", "--no-environment", "--skip-healthchecks"},
		Unseen: "whether sinks can be reached, their templates are confined (VSC405), and files that it names are there",
	}
}

// Outcome is what Vector itself has said of a configuration.
type Outcome int

// NotJudged is an end that says nothing about the configuration: Vector was killed, say, or a
// file that the configuration names is not there.
const (
	NotJudged Outcome = iota
	Valid
	Refused
)

// Answer is what Vector said of a configuration.
type Answer struct {
	Outcome Outcome
	// Faults are Vector's own sentences, each fault on one line: why it refuses the
	// configuration, or why it could not judge it.
	Faults []string
}

// String is the faults on one line.
func (a *Answer) String() string { return strings.Join(a.Faults, " ") }

// exitRefused is the code that Vector ends with when it refuses a configuration.
const exitRefused = 78

// faultMark begins each fault.
const faultMark = "x "

var (
	// noFault matches lines that `vector validate` prints, and that say no fault: those of its
	// log, headings and the lines below them, what it has accepted, advice, and where in a
	// program something is, beside the program's own lines. Few operators ever ask a Vector.
	noFault = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(\{.*|\d{4}-\d\d-\d\dT\S+ +[A-Z]+ .*|√ .*|Validated|Failed to load .*|-+|(Component|Source|Transform|Sink|Environment|Health check)s? (errors|warnings)|=.*|[│┌·].*)?$`)
	})
	// missing matches faults of where Vector runs, and not of the configuration.
	missing = regexp.MustCompile(`\(os error \d+\)|^data_dir "[^"]*" does not exist$`)
)

// ReadAnswer reads how `vector validate` has ended and what it printed. Where the sentences
// of a refusal cannot be told, all that it printed is one fault.
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
	own := slices.DeleteFunc(slices.Clone(faults), missing.MatchString)
	if len(own) == 0 {
		return Answer{NotJudged, faults}
	}
	return Answer{Refused, own}
}

// faultsIn are the faults that Vector printed, each once.
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
	var all []string
	for _, fault := range faults {
		if !slices.Contains(all, fault) {
			all = append(all, fault)
		}
	}
	return all
}
