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

// These expressions match positions and component names in messages of Vector.
var (
	inPath        = regexp.MustCompile("\\bin `([^`]+)`")
	ofComponent   = regexp.MustCompile(`^(Source|Transform|Sink) "([^"]+)"`)
	forComponent  = regexp.MustCompile(`\bfor (source|transform|sink) "([^"]+)"`)
	atLine        = regexp.MustCompile(`\bat line (\d+) column (\d+)`)
	testEnd       = regexp.MustCompile(`(?m)^test (.*) \.\.\. failed$`)
	indexBrackets = regexp.MustCompile(`\[(\d+)\]`)
)

// Rejections returns findings for the faults that Vector printed when it rejected the files. If Vector names a
// position in a file, the finding has that position.
func (r *Reader) Rejections(files []File, faults []string) []Finding {
	var findings []Finding
	for _, fault := range faults {
		finding := newFinding(vectorRefuses, "Vector says: "+fault)
		switch match := atLine.FindStringSubmatch(fault); {
		case match != nil && len(files) == 1 && !files[0].Printed:
			finding.Line, _ = strconv.Atoi(match[1])
			finding.Column, _ = strconv.Atoi(match[2])
			finding.Source = displayName(files[0])
		default:
			r.locateFinding(&finding, files, faultPath(fault))
		}
		findings = append(findings, finding)
	}
	return findings
}

// FailedTests returns findings for the failed unit tests in the output of `vector test`, or nil if the output
// does not contain failed tests.
func (r *Reader) FailedTests(files []File, printed string) []Finding {
	var findings []Finding
	names := r.testNames(files)
	for _, match := range testEnd.FindAllStringSubmatch(printed, -1) {
		name, reason := match[1], ""
		if _, details, ok := strings.Cut(printed, "\ntest "+name+":\n"); ok {
			reason, _, _ = strings.Cut(details, "\ntest ")
			reason, _, _ = strings.Cut(reason, "\noutput payloads ")
			reason = ": " + strings.Join(parseFaults(reason), " ")
		}
		finding := newFinding(testFails, "test "+strconv.Quote(name)+" fails"+reason)
		if i := slices.Index(names, name); i >= 0 {
			r.locateFinding(&finding, files, "tests["+strconv.Itoa(i)+"]")
		}
		findings = append(findings, finding)
	}
	return findings
}

// HasTests reports whether the files contain unit tests of Vector.
func (r *Reader) HasTests(files []File) bool { return len(r.testNames(files)) > 0 }

// testNames returns the names of the unit tests in the files, in the order in which they are written.
func (r *Reader) testNames(files []File) []string {
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

// faultPath returns the path of configuration keys in a fault of Vector, or "" for none.
func faultPath(fault string) string {
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

// newFinding returns a finding of a rule without a position.
func newFinding(code Code, message string) Finding {
	rule := ruleFor(code)
	return Finding{Code: code, Level: rule.Level, Message: message, Help: rule.Help}
}

// displayName returns the name of a file for messages: its source, or else its file name.
func displayName(file File) string {
	if file.Source == "" {
		return file.Name
	}
	return file.Source
}

// locateFinding sets the path of a finding, and the position of the deepest key of that path that one of the files
// contains.
func (r *Reader) locateFinding(f *Finding, files []File, key string) {
	f.Path = key
	steps := strings.Split(indexBrackets.ReplaceAllString(key, ".$1"), ".")
	deepest := -1
	for i, file := range files {
		root, _ := r.parse(file, i)
		if root == nil {
			continue
		}
		remaining, isBelow := locateSteps(&file, steps)
		if !isBelow {
			continue
		}
		pos, depth := root.resolveSteps(remaining)
		depth += len(steps) - len(remaining)
		if depth <= deepest {
			continue
		}
		deepest, f.Source, f.Line, f.Column = depth, displayName(file), pos.line, pos.column
		if file.Printed || depth == 0 {
			f.Line, f.Column = 0, 0
		}
	}
}

// locateSteps returns the steps of a path inside a file, and whether the file can contain the path. For a file in a
// subdirectory, the names of the directory and of the file are the first steps of the path.
func locateSteps(file *File, steps []string) (remaining []string, isIn bool) {
	parents := strings.Split(file.RelativePath, "/")
	if len(parents) == 1 {
		return steps, true
	}
	last := len(parents) - 1
	parents[last] = strings.TrimSuffix(parents[last], path.Ext(parents[last]))
	if len(steps) < len(parents) || !slices.Equal(parents, steps[:len(parents)]) {
		return nil, false
	}
	return steps[len(parents):], true
}

// resolveSteps follows a path of keys and item indexes until a step does not exist. It returns the position of
// the last existing step, and the number of existing steps.
func (v *value) resolveSteps(steps []string) (pos position, depth int) {
	pos = v.pos
	for _, step := range steps {
		number, err := strconv.Atoi(step)
		switch e := v.entry(step); {
		case e != nil:
			v, pos = e.value, e.pos
		case err == nil && number < len(v.items):
			v, pos = v.items[number], v.items[number].pos
		default:
			return pos, depth
		}
		depth++
	}
	return pos, depth
}
