// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/lint"
)

// junitSuite is a report in the format that CI systems read.
type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr,omitempty"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	Failure *junitFailure `xml:"failure,omitempty"`
	Error   *junitFailure `xml:"error,omitempty"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// printJUnit writes cases as one suite.
func printJUnit(w io.Writer, name string, cases []junitCase) error {
	suite := junitSuite{Name: name, Tests: len(cases), Cases: cases}
	for _, testCase := range cases {
		if testCase.Failure != nil {
			suite.Failures++
		}
		if testCase.Error != nil {
			suite.Errors++
		}
	}
	text, err := xml.MarshalIndent(suite, "", "  ")
	if err != nil {
		return fmt.Errorf("printing the JUnit report: %w", err)
	}
	_, err = w.Write(humanize.EscapeXML([]byte(xml.Header + string(text) + "\n")))
	return err
}

// junitCases returns one test case for each finding. Without findings, it returns one passed test case for all files.
func (o *findingsOutput) junitCases(result *lint.Result) []junitCase {
	var cases []junitCase
	for i := range result.Findings {
		finding := &result.Findings[i]
		cases = append(cases, junitCase{
			Name: finding.Position(), Class: finding.Code,
			Failure: &junitFailure{Message: finding.Text(), Text: finding.Help},
		})
	}
	if len(cases) == 0 {
		cases = append(cases, junitCase{Name: countNoun(result.Linted, o.noun), Class: o.command[strings.LastIndexByte(o.command, ' ')+1:]})
	}
	return cases
}

// readStandardInput returns the content of the standard input, up to the limit of package bounded.
func readStandardInput(reader io.Reader) ([]byte, error) {
	text, err := bounded.ReadStream(reader)
	if err != nil {
		return nil, fmt.Errorf("reading the standard input: %w", err)
	}
	return text, nil
}
