// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"net/url"
	"path/filepath"
	"slices"

	"kontroloop.ai/vector-sidecar-operator/internal/lint"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// sarif is a report in the Static Analysis Results Interchange Format, version 2.1.0, with the fields that this program
// needs.
type sarif struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool struct {
		Driver sarifDriver `json:"driver"`
	} `json:"tool"`
	Results []sarifResult `json:"results"`
}

type sarifDriver struct {
	Name    string      `json:"name"`
	Version string      `json:"version"`
	Rules   []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID          string    `json:"id"`
	Description sarifText `json:"shortDescription"`
	Help        sarifText `json:"help"`
	Default     struct {
		Level string `json:"level"`
	} `json:"defaultConfiguration"`
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifResult struct {
	RuleID       string             `json:"ruleId"`
	RuleIndex    int                `json:"ruleIndex"`
	Level        string             `json:"level"`
	Message      sarifText          `json:"message"`
	Locations    []sarifLocation    `json:"locations"`
	Suppressions []sarifSuppression `json:"suppressions,omitempty"`
}

type sarifLocation struct {
	Physical struct {
		Artifact struct {
			URI string `json:"uri"`
		} `json:"artifactLocation"`
		Region *sarifRegion `json:"region,omitempty"`
	} `json:"physicalLocation"`
	Logical []sarifName `json:"logicalLocations,omitempty"`
}

type sarifRegion struct {
	Line   int `json:"startLine"`
	Column int `json:"startColumn,omitempty"`
}

type sarifName struct {
	Name string `json:"fullyQualifiedName"`
}

type sarifSuppression struct {
	Kind          string `json:"kind"`
	Justification string `json:"justification"`
}

// newSarif returns a report of findings, including ignored ones.
func newSarif(result *lint.Result, command, version string) *sarif {
	run := sarifRun{Results: []sarifResult{}}
	run.Tool.Driver = sarifDriver{Name: command, Version: version, Rules: []sarifRule{}}
	index := map[string]int{}
	findings := slices.Concat(result.Findings, result.Ignored)
	for i := range findings {
		finding := &findings[i]
		if _, isThere := index[finding.Code]; !isThere {
			index[finding.Code] = len(run.Tool.Driver.Rules)
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, newSarifRule(finding.Code))
		}
		run.Results = append(run.Results, newSarifResult(finding, index[finding.Code]))
	}
	return &sarif{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}}
}

// newSarifRule returns the description of a rule of lint.
func newSarifRule(code string) sarifRule {
	lintRule, _ := lint.RuleFor(code)
	rule := sarifRule{ID: code, Description: sarifText{lintRule.Title}, Help: sarifText{lintRule.Help}}
	rule.Default.Level = sarifLevel(lintRule.Level)
	return rule
}

// newSarifResult returns the result for a finding. index is the index of its rule in the report.
func newSarifResult(finding *lint.Finding, index int) sarifResult {
	var location sarifLocation
	location.Physical.Artifact.URI = (&url.URL{Path: filepath.ToSlash(finding.File)}).String()
	if finding.Line > 0 {
		location.Physical.Region = &sarifRegion{Line: finding.Line, Column: finding.Column}
	}
	if finding.Path != "" {
		location.Logical = []sarifName{{finding.Path}}
	}
	result := sarifResult{
		RuleID: finding.Code, RuleIndex: index, Level: sarifLevel(finding.Level),
		Message: sarifText{finding.Text() + "; " + finding.Help}, Locations: []sarifLocation{location},
	}
	if finding.Ignored != "" {
		result.Suppressions = []sarifSuppression{{Kind: "inSource", Justification: finding.Ignored}}
	}
	return result
}

// sarifLevel returns the SARIF name of a level.
func sarifLevel(level string) string {
	if level == string(meta.Error) {
		return "error"
	}
	return "warning"
}
