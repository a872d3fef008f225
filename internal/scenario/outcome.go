// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"bytes"
	"fmt"
	"regexp"
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

func (o Outcome) name() string {
	if o.Failed {
		return WantError
	}
	return WantYAML
}

// Difference is an expectation that was not met.
type Difference struct {
	// What is the name of the expectation.
	What      string
	Want, Got string
}

// Compare returns how an outcome differs from what the scenario expects.
func (s *Scenario) Compare(outcome Outcome) ([]Difference, error) {
	var differences []Difference
	want, isExpected, err := s.whole(outcome.name())
	if err != nil {
		return nil, err
	}
	text, hasExpectations := s.given(Expectations)
	switch {
	case isExpected && want != outcome.Text:
		differences = append(differences, Difference{s.origin(outcome.name()), want, outcome.Text})
	case isExpected:
	case s.hasOutcome():
		return []Difference{{outcome.name(), "", outcome.Text}}, nil
	case !hasExpectations:
		return []Difference{{"an expectation", "", "there is none: --update writes it\n"}}, nil
	case outcome.Failed:
		return []Difference{{Expectations, "", outcome.Text}}, nil
	}
	if !hasExpectations {
		return differences, nil
	}
	var expectations []Expectation
	if err := bounded.Object().DecodeYAMLStrictly([]byte(text), &expectations); err != nil {
		return nil, s.invalid("%s: %w", Expectations, err)
	}
	if len(expectations) == 0 {
		return nil, s.invalid("%s: it expects nothing: write an expectation, or remove the file", Expectations)
	}
	for i, expectation := range expectations {
		found, err := expectation.compare(outcome.Text)
		if err != nil {
			return nil, s.invalid("%s: item %d: %w", Expectations, i, err)
		}
		if found != nil {
			differences = append(differences, *found)
		}
	}
	return differences, nil
}

// Expectation is about one part of the outcome.
type Expectation struct {
	// Object is KIND/NAME, or KIND if there is one of it. Default: Deployment.
	Object string `json:"object,omitempty"`
	// Path is a JSONPath as kubectl takes it, such as
	// {.spec.template.spec.volumes[*].name}.
	Path string `json:"path"`
	// Exactly one of these says what is expected there: a text, a part of one, a regular
	// expression, or whether there is anything at all.
	Equals   *string `json:"equals,omitempty"`
	Contains *string `json:"contains,omitempty"`
	Matches  *string `json:"matches,omitempty"`
	Exists   *bool   `json:"exists,omitempty"`
}

func (e *Expectation) compare(objects string) (*Difference, error) {
	found, err := e.find(objects)
	if err != nil {
		return nil, err
	}
	differs := func(isMet bool, want string) (*Difference, error) {
		if isMet {
			return nil, nil
		}
		return &Difference{strings.TrimSpace(e.Object + " " + e.Path), want + "\n", found + "\n"}, nil
	}
	given := 0
	for _, is := range []bool{e.Equals != nil, e.Contains != nil, e.Matches != nil, e.Exists != nil} {
		if is {
			given++
		}
	}
	switch {
	case given != 1:
		return nil, fmt.Errorf("%s: give one of equals, contains, matches and exists", e.Path)
	case e.Equals != nil:
		return differs(found == *e.Equals, *e.Equals)
	case e.Contains != nil:
		return differs(strings.Contains(found, *e.Contains), "… "+*e.Contains+" …")
	case e.Exists != nil:
		return differs(*e.Exists == (found != ""), map[bool]string{true: "anything", false: ""}[*e.Exists])
	}
	pattern, err := regexp.Compile(*e.Matches)
	if err != nil {
		return nil, fmt.Errorf("%s: matches: %w", e.Path, err)
	}
	return differs(pattern.MatchString(found), *e.Matches)
}

// find returns the value at the path as kubectl prints it.
func (e *Expectation) find(objects string) (string, error) {
	if !strings.Contains(e.Path, "{") { // It would be a text, which is found everywhere.
		return "", fmt.Errorf("path %q is no JSONPath: write it in braces, such as {.metadata.name}", e.Path)
	}
	kind, name, _ := strings.Cut(e.Object, "/")
	if kind == "" {
		kind = workload.Default().Kind
	}
	for _, document := range source.Split([]byte(objects)) {
		var object map[string]any
		if err := bounded.Object().DecodeYAML(document.Text, &object); err != nil {
			return "", fmt.Errorf("reading the outcome: %w", err)
		}
		metadata, _ := object["metadata"].(map[string]any)
		if object["kind"] != kind || name != "" && metadata["name"] != name {
			continue
		}
		path := jsonpath.New("path").AllowMissingKeys(true)
		if err := path.Parse(e.Path); err != nil {
			return "", fmt.Errorf("%s: %w", e.Path, err)
		}
		var found bytes.Buffer
		if err := path.Execute(&found, object); err != nil {
			return "", fmt.Errorf("%s: %w", e.Path, err)
		}
		return found.String(), nil
	}
	return "", fmt.Errorf("there is no %s in the outcome", strings.TrimSuffix(kind+"/"+name, "/"))
}
