// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vrl

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"
)

//go:embed data/functions.tsv
var table string

// function is one form of a VRL function, which is valid in a range of releases.
type function struct {
	name string
	// firstMinor and lastMinor are the first and the last minor version of Vector 0.x with this form.
	firstMinor, lastMinor int
	parameters            []parameter
	// closure is the number of variables of the function's closure. It is noClosure for a function without a
	// closure, and anyClosure if the number depends on the call.
	closure int
	// result contains the letters of the result's kinds, or ? for unknown kinds. It ends with ! if the function can
	// fail, and with . if it cannot fail. Without such an end, it is unknown.
	result string
	// isParticular reports whether Vector may reject a call for other reasons than the kinds of its arguments.
	isParticular bool
}

const (
	noClosure  = -1
	anyClosure = -2
)

type parameter struct {
	name       string
	isRequired bool
	// kinds are the letters of the kinds that the parameter accepts.
	kinds string
}

// library returns the forms of all functions by name. The oldest form of a function is first.
var library = sync.OnceValue(func() map[string][]function {
	functions := map[string][]function{}
	for line := range strings.Lines(table) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) != 6 {
			continue
		}
		entry := function{name: fields[0], closure: noClosure}
		entry.result, entry.isParticular = strings.CutSuffix(fields[5], "~")
		entry.firstMinor, _ = strconv.Atoi(fields[1])
		entry.lastMinor, _ = strconv.Atoi(fields[2])
		for _, field := range strings.Fields(fields[3]) {
			name, kinds, _ := strings.Cut(field, ":")
			bare, isRequired := strings.CutSuffix(name, "!")
			entry.parameters = append(entry.parameters, parameter{bare, isRequired, kinds})
		}
		if fields[4] != "" {
			entry.closure = anyClosure
			if count, err := strconv.Atoi(fields[4]); err == nil {
				entry.closure = count
			}
		}
		functions[entry.name] = append(functions[entry.name], entry)
	}
	return functions
})

// newest returns the newest minor version in the table.
var newest = sync.OnceValue(func() int {
	latest := 0
	for _, forms := range library() {
		latest = max(latest, forms[len(forms)-1].lastMinor)
	}
	return latest
})

// formsFor returns the forms of a function in a release, and its forms in all other releases. If the release is
// 0, all forms are in the first result.
func formsFor(name string, minor int) (forms, otherForms []function) {
	for _, form := range library()[name] {
		if minor == 0 || form.firstMinor <= minor && minor <= form.lastMinor {
			forms = append(forms, form)
		} else {
			otherForms = append(otherForms, form)
		}
	}
	return forms, otherForms
}

// parameterIndex returns the index of a parameter, or -1 if the function does not have the parameter.
func (f *function) parameterIndex(name string) int {
	for i := range f.parameters {
		if f.parameters[i].name == name {
			return i
		}
	}
	return -1
}

// parameterNames returns the names of the parameters, in their order.
func (f *function) parameterNames() []string {
	var names []string
	for i := range f.parameters {
		names = append(names, f.parameters[i].name)
	}
	return names
}
