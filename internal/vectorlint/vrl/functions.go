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

// function is a form of a function in some releases.
type function struct {
	name string
	// since and until are the first and the last release 0.MINOR with this form.
	since, until int
	parameters   []parameter
	// closure is the number of variables of its closure: noClosure, or anyClosure if the number depends on the call.
	closure int
	// result is the kind of its result.
	result string
	// isParticular reports whether Vector may reject a call for more reasons than the kinds of its arguments.
	isParticular bool
}

const (
	noClosure  = -1
	anyClosure = -2
)

type parameter struct {
	name       string
	isRequired bool
	// kinds are the letters of the accepted kinds.
	kinds string
}

// library has the functions by name. The oldest form of each function is first.
var library = sync.OnceValue(func() map[string][]function {
	all := map[string][]function{}
	for line := range strings.Lines(table) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) != 6 {
			continue
		}
		found := function{name: fields[0], closure: noClosure}
		found.result, found.isParticular = strings.CutSuffix(fields[5], "~")
		found.since, _ = strconv.Atoi(fields[1])
		found.until, _ = strconv.Atoi(fields[2])
		for _, one := range strings.Fields(fields[3]) {
			name, kinds, _ := strings.Cut(one, ":")
			bare, isRequired := strings.CutSuffix(name, "!")
			found.parameters = append(found.parameters, parameter{bare, isRequired, kinds})
		}
		if fields[4] != "" {
			found.closure = anyClosure
			if count, err := strconv.Atoi(fields[4]); err == nil {
				found.closure = count
			}
		}
		all[found.name] = append(all[found.name], found)
	}
	return all
})

// newest is the newest release in the table.
var newest = sync.OnceValue(func() int {
	last := 0
	for _, forms := range library() {
		last = max(last, forms[len(forms)-1].until)
	}
	return last
})

// formsOf returns the forms of a function in a release, and its forms in other releases. For release 0, all forms are
// in the first result.
func formsOf(name string, minor int) (forms, inOther []function) {
	for _, one := range library()[name] {
		if minor == 0 || one.since <= minor && minor <= one.until {
			forms = append(forms, one)
		} else {
			inOther = append(inOther, one)
		}
	}
	return forms, inOther
}

// position returns the index of a parameter, -1 if the function does not have it.
func (f *function) position(name string) int {
	for i := range f.parameters {
		if f.parameters[i].name == name {
			return i
		}
	}
	return -1
}

func (f *function) names() []string {
	var all []string
	for i := range f.parameters {
		all = append(all, f.parameters[i].name)
	}
	return all
}
