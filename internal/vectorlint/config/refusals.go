// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Patterns for places in Vector's messages.
var (
	inPath        = regexp.MustCompile("\\bin `([^`]+)`")
	ofComponent   = regexp.MustCompile(`^(Source|Transform|Sink) "([^"]+)"`)
	forComponent  = regexp.MustCompile(`\bfor (source|transform|sink) "([^"]+)"`)
	atLine        = regexp.MustCompile(`\bat line (\d+) column (\d+)`)
	testEnd       = regexp.MustCompile(`(?m)^test (.*) \.\.\. failed$`)
	indexBrackets = regexp.MustCompile(`\[(\d+)\]`)
)

// Refusals returns the faults of a rejection as findings. If Vector names a place in the files, the finding has it.
func (r *Reader) Refusals(files []File, faults []string) []Finding {
	var findings []Finding
	for _, fault := range faults {
		finding := found(vectorRefuses, "Vector says: "+fault)
		switch match := atLine.FindStringSubmatch(fault); {
		case match != nil && len(files) == 1 && !files[0].Printed:
			finding.Line, _ = strconv.Atoi(match[1])
			finding.Column, _ = strconv.Atoi(match[2])
			finding.Source = sourceOf(files[0])
		default:
			r.place(&finding, files, pathIn(fault))
		}
		findings = append(findings, finding)
	}
	return findings
}

// FailedTests returns the failed unit tests of the files, from the output of `vector test`; nil if it names none.
func (r *Reader) FailedTests(files []File, printed string) []Finding {
	var findings []Finding
	names := r.testsIn(files)
	for _, match := range testEnd.FindAllStringSubmatch(printed, -1) {
		name, why := match[1], ""
		if _, after, isThere := strings.Cut(printed, "\ntest "+name+":\n"); isThere {
			why, _, _ = strings.Cut(after, "\ntest ")
			why, _, _ = strings.Cut(why, "\noutput payloads ")
			why = ": " + strings.Join(faultsIn(why), " ")
		}
		finding := found(testFails, "test "+strconv.Quote(name)+" fails"+why)
		if i := slices.Index(names, name); i >= 0 {
			r.place(&finding, files, "tests["+strconv.Itoa(i)+"]")
		}
		findings = append(findings, finding)
	}
	return findings
}

// HasTests reports whether files have unit tests of Vector.
func (r *Reader) HasTests(files []File) bool { return len(r.testsIn(files)) > 0 }

// testsIn returns the names of the unit tests, in the order of their file.
func (r *Reader) testsIn(files []File) []string {
	var names []string
	for i, file := range files {
		root, _ := r.parse(file, i)
		if root == nil {
			continue
		}
		for _, test := range root.get("tests").items {
			names = append(names, test.get("name").scalar)
		}
	}
	return names
}

// pathIn returns the path of keys in a fault, "" for none.
func pathIn(fault string) string {
	if match := inPath.FindStringSubmatch(fault); match != nil {
		return match[1]
	}
	if match := ofComponent.FindStringSubmatch(fault); match != nil {
		return strings.ToLower(match[1]) + "s." + match[2]
	}
	if match := forComponent.FindStringSubmatch(fault); match != nil {
		return match[1] + "s." + match[2] + ".inputs"
	}
	return ""
}

func found(code Code, message string) Finding {
	rule := ruleOf(code)
	return Finding{Code: code, Level: rule.Level, Message: message, Help: rule.Help}
}

func sourceOf(file File) string {
	if file.Source == "" {
		return file.Name
	}
	return file.Source
}

// place sets the place of a finding to the deepest key of a path that one of the files has.
func (r *Reader) place(f *Finding, files []File, key string) {
	f.Path = key
	steps := strings.Split(indexBrackets.ReplaceAllString(key, ".$1"), ".")
	deepest := -1
	for i, file := range files {
		root, _ := r.parse(file, i)
		if root == nil {
			continue
		}
		rest, isBelow := stepsIn(&file, steps)
		if !isBelow {
			continue
		}
		at, depth := root.reach(rest)
		depth += len(steps) - len(rest)
		if depth <= deepest {
			continue
		}
		deepest, f.Source, f.Line, f.Column = depth, sourceOf(file), at.line, at.column
		if file.Printed || depth == 0 {
			f.Line, f.Column = 0, 0
		}
	}
}

// stepsIn returns a path of keys as it is in a file. The file may be one component: the directory and the name of the
// file are the keys above it.
func stepsIn(file *File, steps []string) (rest []string, isIn bool) {
	above := strings.Split(file.Below, "/")
	if len(above) == 1 {
		return steps, true
	}
	last := len(above) - 1
	above[last] = strings.TrimSuffix(above[last], path.Ext(above[last]))
	if len(steps) < len(above) || !slices.Equal(above, steps[:len(above)]) {
		return nil, false
	}
	return steps[len(above):], true
}

// reach follows a path of keys and item numbers until a step does not exist. It returns the position and the number of
// steps.
func (v *value) reach(steps []string) (at position, depth int) {
	at = v.at
	for _, step := range steps {
		number, err := strconv.Atoi(step)
		switch e := v.entry(step); {
		case e != nil:
			v, at = e.value, e.at
		case err == nil && number < len(v.items):
			v, at = v.items[number], v.items[number].at
		default:
			return at, depth
		}
		depth++
	}
	return at, depth
}
