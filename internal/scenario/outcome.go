// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"k8s.io/client-go/util/jsonpath"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Outcome is the result of a scenario.
type Outcome struct {
	// Failed is true if Text is an error and not the objects.
	Failed bool
	Text   string
}

// sectionName returns the name of the file that expects the outcome: an error or objects.
func (o Outcome) sectionName() string {
	if o.Failed {
		return WantError
	}
	return WantYAML
}

// Difference is an expectation that was not met.
type Difference struct {
	// Name is the name of the expected file, or the object and the path of the expectation.
	Name             string
	Expected, Actual string
}

// Compare returns the differences between an outcome and the expectations of the scenario.
func (s *Scenario) Compare(outcome Outcome) ([]Difference, error) {
	var differences []Difference
	expected, isExpected, err := s.resolveFile(outcome.sectionName())
	if err != nil {
		return nil, err
	}
	text, hasExpectations := s.ownFile(Expectations)
	switch {
	case isExpected && expected != outcome.Text:
		differences = append(differences, Difference{s.origin(outcome.sectionName()), expected, outcome.Text})
	case isExpected:
	case s.hasOutcome():
		return []Difference{{outcome.sectionName(), "", outcome.Text}}, nil
	case !hasExpectations:
		return []Difference{{"an expectation", "", "missing; --update writes it\n"}}, nil
	case outcome.Failed:
		return []Difference{{Expectations, "", outcome.Text}}, nil
	}
	if !hasExpectations {
		return differences, nil
	}
	var expectations []Expectation
	if err := bounded.Object().DecodeYAMLStrictly([]byte(text), &expectations); err != nil {
		return nil, s.invalidError("%s: %w", Expectations, err)
	}
	if len(expectations) == 0 {
		return nil, s.invalidError("file %s has no expectations; write one, or remove the file", Expectations)
	}
	for i, expectation := range expectations {
		difference, err := expectation.compare(outcome.Text)
		if err != nil {
			return nil, s.invalidError("%s: item %d: %w", Expectations, i, err)
		}
		if difference != nil {
			differences = append(differences, *difference)
		}
	}
	return differences, nil
}

// Expectation describes the expected value of one part of the outcome.
type Expectation struct {
	// Object is KIND/NAME, or KIND for the first object of that kind. Default: Deployment.
	Object string `json:"object,omitempty"`
	// Path is a JSONPath as kubectl takes it, such as
	// {.spec.template.spec.volumes[*].name}. Only Exists works without it, for the object itself.
	Path string `json:"path,omitempty"`
	// Exactly one of these fields is set: the expected text, a substring, a missing substring, a regular expression,
	// or whether the path exists.
	Equals      *string `json:"equals,omitempty"`
	Contains    *string `json:"contains,omitempty"`
	NotContains *string `json:"lacks,omitempty"`
	Matches     *string `json:"matches,omitempty"`
	Exists      *bool   `json:"exists,omitempty"`
}

// match is the value that an expectation finds in the outcome.
type match struct {
	// hasObject is true if the object exists, and exists is true if the path exists in it.
	hasObject, exists bool
	// text is the value as kubectl prints it, or the reason why the value does not exist.
	text string
}

// compare returns nil if the expectation is met. An error means that the expectation itself is invalid.
func (e *Expectation) compare(objects string) (*Difference, error) {
	if err := e.check(); err != nil {
		return nil, err
	}
	match, err := e.findValue(objects)
	if err != nil {
		return nil, err
	}
	value := match.text
	if !match.exists {
		value = ""
	}
	var isMet bool
	var expected string
	switch {
	case e.Exists != nil:
		isMet, expected = *e.Exists == match.exists, map[bool]string{true: "anything", false: ""}[*e.Exists]
	case e.Equals != nil:
		isMet, expected = value == *e.Equals, *e.Equals
	case e.Contains != nil:
		isMet, expected = strings.Contains(value, *e.Contains), "… "+*e.Contains+" …"
	case e.NotContains != nil:
		isMet, expected = !strings.Contains(value, *e.NotContains), "anything without "+*e.NotContains
	default:
		pattern, err := regexp.Compile(*e.Matches)
		if err != nil {
			return nil, fmt.Errorf("%s: matches: %w", e.Path, err)
		}
		isMet, expected = pattern.MatchString(value), *e.Matches
	}
	if isMet && (match.hasObject || e.Exists != nil) { // If the object does not exist, every text is missing from it.
		return nil, nil
	}
	return &Difference{strings.TrimSpace(e.Object + " " + e.Path), expected + "\n", match.text + "\n"}, nil
}

// check returns an error if the expectation itself is invalid.
func (e *Expectation) check() error {
	expected := 0
	for _, isSet := range []bool{e.Equals != nil, e.Contains != nil, e.NotContains != nil, e.Matches != nil, e.Exists != nil} {
		if isSet {
			expected++
		}
	}
	switch {
	case expected != 1:
		return fmt.Errorf("%s: set exactly one of equals, contains, lacks, matches and exists", e.Path)
	case e.Path == "" && e.Exists == nil:
		return errors.New("path is missing; only exists may omit it")
	case e.Path != "" && !strings.Contains(e.Path, "{"): // Without braces the path is a literal text, which is found everywhere.
		return fmt.Errorf("path %q is not a valid JSONPath; write it in braces, such as {.metadata.name}", e.Path)
	}
	return nil
}

// findValue returns the object's value at the path of the expectation. If the object or the value does not exist, the
// match has the reason. The error is for an invalid path or output.
func (e *Expectation) findValue(objects string) (match, error) {
	path := jsonpath.New("path").AllowMissingKeys(true)
	if err := path.Parse(e.Path); err != nil {
		return match{}, fmt.Errorf("%s: %w", e.Path, err)
	}
	kind, name, _ := strings.Cut(e.Object, "/")
	if kind == "" {
		kind = workload.Default().Kind
	}
	for _, document := range source.SplitDocuments([]byte(objects)) {
		var object map[string]any
		if err := bounded.Object().DecodeYAML(document.Text, &object); err != nil {
			return match{}, fmt.Errorf("reading the actual output: %w", err)
		}
		metadata, _ := object["metadata"].(map[string]any)
		if object["kind"] != kind || name != "" && metadata["name"] != name {
			continue
		}
		if e.Path == "" {
			return match{hasObject: true, exists: true, text: "the object exists"}, nil
		}
		return valueAt(path, object), nil
	}
	return match{text: fmt.Sprintf("the outcome has no object %s", strings.TrimSuffix(kind+"/"+name, "/"))}, nil
}

// valueAt returns the value at a path of an object. If the path has an error, such as an index beyond the end of a
// list, the value does not exist.
func valueAt(path *jsonpath.JSONPath, object map[string]any) match {
	results, err := path.FindResults(object)
	if err != nil {
		return match{hasObject: true, text: err.Error()}
	}
	var text bytes.Buffer
	for _, result := range results {
		if err := path.PrintResults(&text, result); err != nil {
			return match{hasObject: true, text: err.Error()}
		}
	}
	isAny := func(result []reflect.Value) bool { return len(result) > 0 }
	return match{hasObject: true, exists: text.Len() > 0 || slices.ContainsFunc(results, isAny), text: text.String()}
}
