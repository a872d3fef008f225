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

// function is one as some releases have it.
type function struct {
	name string
	// since and until are the first and the last release 0.MINOR that have it so.
	since, until int
	parameters   []parameter
	// closure is how many variables its closure has: noClosure, or anyClosure if that depends.
	closure int
	// result is what it returns.
	result string
	// isParticular reports whether Vector may refuse a call for more than its arguments' kinds.
	isParticular bool
}

const (
	noClosure  = -1
	anyClosure = -2
)

type parameter struct {
	name       string
	isRequired bool
	// kinds are the letters of what it takes.
	kinds string
}

// library has the functions by name, the oldest form of each first.
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

// formsOf are the forms of a function in a release; in any, for 0.
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

// position is that of a parameter, -1 if there is none of the name.
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
