// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package lint checks files without a cluster: values, templates, VectorSidecars and Vector configuration. It returns
// findings with file, line, code and hint, and changes nothing.
package lint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
	vectorconfig "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/config"
)

// Finding is one problem in a file.
type Finding struct {
	// Code is a code in Rules, or a reason that is declared in package meta.
	Code  string `json:"code"`
	Level string `json:"level"`
	File  string `json:"file"`
	// Line and Column start at 1. 0 means that the position is unknown.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
	// Path is the path of keys in the file or the object, such as spec.sidecar.image.
	Path string `json:"path,omitempty"`
	// Message describes the problem. Help explains how to fix it.
	Message string `json:"message"`
	Help    string `json:"help"`
	// Ignored is the reason in the comment that ignores the finding. It is "" if no comment ignores the
	// finding.
	Ignored string `json:"ignored,omitempty"`
}

// Position returns FILE:LINE:COLUMN without unknown parts.
func (f *Finding) Position() string {
	text := f.File
	if f.Line > 0 {
		text += fmt.Sprintf(":%d", f.Line)
		if f.Column > 0 {
			text += fmt.Sprintf(":%d", f.Column)
		}
	}
	return text
}

// Text returns the message, after the path if the finding has a path.
func (f *Finding) Text() string {
	if f.Path == "" {
		return f.Message
	}
	return f.Path + ": " + f.Message
}

// Rule describes a code of findings.
type Rule struct {
	Code, Level string
	// Title describes the problem. Help explains how to fix it.
	Title, Help string
}

// These codes are for problems that only files have. The codes for Vector configuration start at VSC101.
const (
	unreadable = "VSC001"
	misfit     = "VSC002"
	notAChart  = "VSC003"
	tooLarge   = "VSC004"
	badIgnore  = "VSC005"
	idleIgnore = "VSC006"

	refusedByAPI = "VSC007"

	unboundedLogs = "VSC008"
	lowStorage    = "VSC009"

	notApplicable = "VSC010"

	looseOptions = "VSC011"

	unusedDefine = "VSC012"
)

// Rules returns the rules of all codes, sorted by code. A finding may also have a reason of package meta
// instead of a code.
func Rules() []Rule {
	rules := OwnRules()
	for _, rule := range vectorconfig.Rules() {
		rules = append(rules, Rule{string(rule.Code), string(rule.Level), rule.Title, rule.Help})
	}
	return rules
}

// OwnRules returns the rules that do not concern Vector configuration.
func OwnRules() []Rule {
	return []Rule{
		{unreadable, string(meta.Error), "The file is not YAML, JSON or TOML", "correct the syntax at this position"},
		{misfit, string(meta.Error), "The object does not fit its kind", "correct or remove the field: kubectl explain vectorsidecar.spec"},
		{notAChart, string(meta.Error), "The directory is not a valid sidecar chart", "start with a copy of the built-in chart: Chart.yaml, values.yaml, values.schema.json and templates"},
		{tooLarge, string(meta.Error), "The file exceeds a size or nesting limit", "split the file, nest it less, or replace its aliases by their values"},
		{badIgnore, string(meta.Error), "An ignore comment has no valid codes or no reason", "write # vectorsidecar: ignore CODE because REASON, with codes of findings"},
		{idleIgnore, string(meta.Warning), "A comment ignores a finding that does not exist", "remove the comment, or put it on the finding's line or the one above"},
		{refusedByAPI, string(meta.Error), "The API server would reject the object", "correct the field: kubectl explain vectorsidecar.spec"},
		{unboundedLogs, string(meta.Warning), "A log volume without a limit", "set sizeLimit of the emptyDir, and bound the application's files below it by its own rotation or sidecar.logs.cleanup: a full disk makes the kubelet evict this pod or others"},
		{lowStorage, string(meta.Warning), "A pod may use less than its data and logs may take", "raise or remove the limits of ephemeral-storage, or lower sidecar.data.sizeLimit and that of the log volume: the kubelet evicts a pod that uses more than the sum of its containers' limits"},
		{notApplicable, string(meta.Warning), "Server-side apply would be rejected", "remove the fields: kubectl create drops null, kubectl apply --server-side does not, and null removes a value in values files only"},
		{looseOptions, string(meta.Warning), "windowsOptions in pods that do not select Windows", "set spec.os.name of the pods to windows, or remove windowsOptions"},
		{unusedDefine, string(meta.Warning), "A define that no rendered template uses", "include the define in a template, or remove it: no VectorSidecar or environment uses it"},
	}
}

// RuleFor returns the rule of a code, or a rule for a reason of package meta. It ignores case. It returns false
// for an unknown code.
func RuleFor(code string) (Rule, bool) {
	for _, rule := range Rules() {
		if strings.EqualFold(rule.Code, code) {
			return rule, true
		}
	}
	for _, reason := range meta.Reasons() {
		if strings.EqualFold(reason.Name, code) {
			return Rule{reason.Name, string(reason.Level), reason.Meaning, reason.Help}, true
		}
	}
	return Rule{}, false
}

// NewFinding returns a finding with a reason of package meta about an object in a file. Its position is the
// position of the field that the reason concerns.
func NewFinding(reason, message string, document source.Document) Finding {
	finding := newFinding(reason, document.Source, message)
	if len(document.Text) == 0 {
		return finding
	}
	path := reasonPaths[reason]
	return finding.withPosition(newPositions(document.Text, document.Line).findKey(path...), strings.Join(path, "."))
}

// newFinding returns a finding with the level and the help of its code's rule.
func newFinding(code, file, message string) Finding {
	finding := Finding{Code: code, Level: string(meta.Error), File: file, Message: message}
	if rule, isKnown := RuleFor(code); isKnown {
		finding.Level, finding.Help = rule.Level, rule.Help
	}
	return finding
}

// withPosition returns a copy of the finding with a position and a path.
func (f Finding) withPosition(pos position, path string) Finding {
	f.Line, f.Column, f.Path = pos.line, pos.column, path
	return f
}

// sortFindings sorts findings by file and position, and removes equal findings.
func sortFindings(findings []Finding) []Finding {
	slices.SortStableFunc(findings, func(a, b Finding) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return slices.Compact(findings)
}
