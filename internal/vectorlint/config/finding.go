// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"strings"
)

// Code names a rule, such as VSC211. Its meaning never changes.
type Code string

// Level is the severity of a finding.
type Level string

const (
	// Error is a fault that prevents Vector from starting, or that makes its pod restart again and again.
	Error Level = "error"
	// Warning is a fault that does not prevent Vector from starting, but the configuration probably does not do what
	// its author wants.
	Warning Level = "warning"
)

// Finding is one problem of a configuration.
type Finding struct {
	// Code and Level are the code and level of the rule. If the finding depends on an unknown version of Vector, it is
	// always a warning.
	Code  Code
	Level Level
	// Source is the file. Line and Column are the place in it, from 1; 0 if there is none.
	Source       string
	Line, Column int
	// Path is the path of keys in the configuration, such as sinks.out.inputs[0].
	Path string
	// Message explains the fault and its place; Help explains how to fix it.
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

func filterLevel(level Level, findings []Finding) []Finding {
	var matches []Finding
	for _, f := range findings {
		if f.Level == level {
			matches = append(matches, f)
		}
	}
	return matches
}
