// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vectorconfig

import (
	"fmt"
	"strings"
)

// Code names a rule, such as VSC211. It never changes its meaning.
type Code string

// Level is how bad a finding is.
type Level string

const (
	// Error keeps Vector from starting, or has its pod restarted for ever.
	Error Level = "error"
	// Warning lets Vector start, but hardly do what was meant.
	Warning Level = "warning"
)

// Finding is one thing that is wrong with a configuration.
type Finding struct {
	// Code and Level are the rule's. What depends on a version of Vector that
	// is not known is a warning, whatever the rule says.
	Code  Code
	Level Level
	// Source is the file, Line and Column the place in it, from 1; 0 if it is
	// about no place.
	Source       string
	Line, Column int
	// Path of keys in the configuration, such as sinks.out.inputs[0].
	Path string
	// Message says what is wrong and names it; Help says what to do.
	Message, Help string
}

// String is the finding on one line.
func (f Finding) String() string {
	var b strings.Builder
	b.WriteString(f.Source)
	if f.Line > 0 {
		fmt.Fprintf(&b, ":%d", f.Line)
		if f.Column > 0 {
			fmt.Fprintf(&b, ":%d", f.Column)
		}
	}
	if b.Len() > 0 {
		b.WriteString(": ")
	}
	if f.Path != "" && !strings.HasPrefix(f.Message, f.Path) {
		b.WriteString(f.Path + ": ")
	}
	b.WriteString(f.Message)
	if f.Help != "" {
		b.WriteString("; " + f.Help)
	}
	fmt.Fprintf(&b, " (%s)", f.Code)
	return b.String()
}

// Errors returns the findings that are errors.
func Errors(findings []Finding) []Finding { return of(Error, findings) }

// Warnings returns the findings that are warnings.
func Warnings(findings []Finding) []Finding { return of(Warning, findings) }

func of(level Level, findings []Finding) []Finding {
	var found []Finding
	for _, f := range findings {
		if f.Level == level {
			found = append(found, f)
		}
	}
	return found
}
