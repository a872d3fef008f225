// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package flags

import (
	_ "embed" // for data/flags.tsv
	"slices"
	"strconv"
	"strings"
	"sync"
)

//go:embed data/flags.tsv
var flagsTSV string

// Oldest and Newest are the first and the last minor version of Vector 0.x in the table.
const (
	Oldest = 45
	Newest = 57
)

// valueKind is the kind of a flag's value.
type valueKind string

const (
	files       valueKind = "files"
	directories valueKind = "directories"
	choice      valueKind = "choice"
	number      valueKind = "number"
	// toggle is the kind of a flag without a value. The value of its variable is true or false.
	toggle valueKind = "switch"
	count  valueKind = "count"
	// end is the kind of a flag that makes Vector print a text and exit.
	end valueKind = "end"
)

// flag is a flag of Vector with its environment variable. The field values contains the valid values of a
// choice, the minimum of a number, or the format of files.
type flag struct {
	long, short, variable string
	kind                  valueKind
	values                string
	firstMinor, lastMinor int
}

// table returns all flags of all releases in the table.
var table = sync.OnceValue(func() []flag {
	var flags []flag
	for line := range strings.Lines(flagsTSV) {
		columns := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(columns) != 7 || columns[0] == "flag" {
			continue
		}
		for i := range columns {
			columns[i] = strings.TrimPrefix(columns[i], "-")
		}
		f := flag{long: columns[0], short: columns[1], variable: columns[2], kind: valueKind(columns[3]), values: columns[4], firstMinor: Oldest, lastMinor: Newest}
		if firstMinor, err := strconv.Atoi(columns[5]); err == nil {
			f.firstMinor = firstMinor
		}
		if lastMinor, err := strconv.Atoi(columns[6]); err == nil {
			f.lastMinor = lastMinor
		}
		flags = append(flags, f)
	}
	return flags
})

// releases returns the flags by minor version. All command lines share them.
var releases = sync.OnceValue(func() map[int][]flag {
	flags := map[int][]flag{}
	for minor := Oldest; minor <= Newest; minor++ {
		flags[minor] = slices.DeleteFunc(slices.Clone(table()), func(f flag) bool { return minor < f.firstMinor || minor > f.lastMinor })
	}
	return flags
})

// flagsFor returns the command-line flags of Vector 0.MINOR, which callers must not change. For a release that is not
// in the table, it returns the flags of the nearest release.
func flagsFor(minor int) []flag { return releases()[min(max(minor, Oldest), Newest)] }

// takesValue reports whether the command line must contain a value for the flag.
func (f *flag) takesValue() bool {
	return f.kind == files || f.kind == directories || f.kind == choice || f.kind == number
}

// invalidReason returns the reason why a value of the flag is invalid, or "" for a valid value.
func (f *flag) invalidReason(value string) string {
	switch f.kind {
	case files, directories:
		for path := range strings.SplitSeq(value, ",") {
			if path == "" {
				return "a path is empty"
			}
			if !isPatternValid(path) {
				return "the pattern " + strconv.Quote(path) + " is not valid"
			}
		}
	case choice:
		return checkChoice(value, f.values)
	case toggle:
		return checkChoice(value, "true|false")
	case number:
		minimum, _ := strconv.ParseUint(f.values, 10, 64)
		if n, err := strconv.ParseUint(strings.TrimPrefix(value, "+"), 10, 64); err != nil || n < minimum {
			return "the value must be a whole number from " + f.values
		}
	case count, end:
	}
	return ""
}

// checkChoice returns the reason why a value is not one of the valid values, which | separates. It returns "" for a
// valid value.
func checkChoice(value, values string) string {
	choices := strings.Split(values, "|")
	if slices.Contains(choices, value) {
		return ""
	}
	return "the value must be " + strings.Join(choices[:len(choices)-1], ", ") + " or " + choices[len(choices)-1]
}

// logVariables are the environment variables with log directives, such as info or
// vector=debug,file_source=warn. Vector reads only the first variable that is set.
var logVariables = []string{"VECTOR_LOG", "LOG"}

var logLevels = []string{"", "off", "error", "warn", "info", "debug", "trace"}

// checkLog returns the reason why Vector panics because of log directives, or "" for valid directives. A word
// that is not a level is the name of a target.
func checkLog(value string) string {
	for directive := range strings.SplitSeq(value, ",") {
		parts := strings.Split(directive, "=")
		if len(parts) == 1 {
			continue
		}
		n, err := strconv.ParseUint(parts[1], 10, 64)
		isLevel := slices.Contains(logLevels, strings.ToLower(parts[1])) || err == nil && n <= 5
		fields := strings.Split(parts[0], "[{")
		if len(parts) > 2 || !isLevel || len(fields) > 2 || len(fields) == 2 && !strings.HasSuffix(fields[1], "}]") {
			return "the directive " + strconv.Quote(directive) + " is not TARGET=LEVEL with a level off, error, warn, info, debug or trace"
		}
	}
	return ""
}
