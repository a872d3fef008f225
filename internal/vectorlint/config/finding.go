// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"strings"
)

// Code is the code of a rule, such as VSC211. The meaning of a code never changes.
type Code string

// Level is the severity of a finding.
type Level string

const (
	// Error is the level of faults that prevent Vector from starting or make its pod restart repeatedly.
	Error Level = "error"
	// Warning is the level of faults that do not prevent Vector from starting. The configuration probably does
	// not do what its author intends.
	Warning Level = "warning"
)

// Finding is one problem in a configuration.
type Finding struct {
	// Code and Level are the code and the level of the rule. If the finding depends on the version of Vector
	// and the version is unknown, Level is Warning.
	Code  Code
	Level Level
	// Source is the name of the file. Line and Column are the position in the file, starting at 1, or 0 if the
	// finding does not have a position.
	Source       string
	Line, Column int
	// Path is the path of keys in the configuration, such as sinks.out.inputs[0].
	Path string
	// Message describes the fault. Help explains how to fix it.
	Message, Help string
}

// String returns the finding on one line.
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
func Errors(findings []Finding) []Finding { return filterLevel(Error, findings) }

// Warnings returns the findings that are warnings.
func Warnings(findings []Finding) []Finding { return filterLevel(Warning, findings) }

// filterLevel returns the findings of a level.
func filterLevel(level Level, findings []Finding) []Finding {
	var matches []Finding
	for _, f := range findings {
		if f.Level == level {
			matches = append(matches, f)
		}
	}
	return matches
}
