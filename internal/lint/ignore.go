// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"
)

// ignore is a comment that ignores findings on one line:
//
//	# vectorsidecar: ignore CODE, CODE because REASON
//
// A comment after other text applies to its own line. A comment that is alone on its line applies to the next
// line that is not a comment.
type ignore struct {
	position position
	line     int
	codes    []string
	reason   string
}

var (
	ignoring = regexp.MustCompile(`(^|\s)#\s*vectorsidecar:\s*ignore\b(.*)$`)
	ignored  = regexp.MustCompile(`^\s+(\w+(?:\s*,\s*\w+)*)\s+because\s+(\S.*)$`)
)

// suppress moves findings from Findings to Ignored if a comment in a file ignores them. It adds findings for
// invalid comments, and for comments that do not ignore any finding.
func (r *Result) suppress(file File) {
	if path.Ext(file.Name) == ".json" {
		return // It has no comments.
	}
	ignores, findings := parseIgnores(file)
	for _, comment := range ignores {
		for _, code := range comment.codes {
			isOf := func(f Finding) bool { return f.File == file.Name && f.Line == comment.line && f.Code == code }
			if !slices.ContainsFunc(r.Findings, isOf) {
				findings = append(findings, newFinding(idleIgnore, file.Name, "no finding "+code+" at this line").withPosition(comment.position, ""))
				continue
			}
			r.Findings = slices.DeleteFunc(r.Findings, func(f Finding) bool {
				if !isOf(f) {
					return false
				}
				f.Ignored = comment.reason
				r.Ignored = append(r.Ignored, f)
				return true
			})
		}
	}
	r.Findings = append(r.Findings, findings...)
}

// parseIgnores returns the valid comments in a file, and findings for invalid ones.
func parseIgnores(file File) (ignores []ignore, findings []Finding) {
	var waiting []ignore
	number := 0
	for line := range bytes.Lines(file.Text) {
		number++
		text := strings.TrimRight(string(line), "\r\n")
		content, _, _ := strings.Cut(text, "#")
		isAlone := strings.TrimSpace(content) == ""
		if !isAlone {
			for _, comment := range waiting {
				comment.line = number
				ignores = append(ignores, comment)
			}
			waiting = nil
		}
		match := ignoring.FindStringSubmatchIndex(text)
		if match == nil {
			continue
		}
		comment := ignore{position: position{line: number, column: match[3] + 1}, line: number}
		if message := comment.parseCodes(text[match[4]:match[5]]); message != "" {
			findings = append(findings, newFinding(badIgnore, file.Name, message).withPosition(comment.position, ""))
			continue
		}
		if isAlone {
			waiting = append(waiting, comment)
			continue
		}
		ignores = append(ignores, comment)
	}
	return append(ignores, waiting...), findings
}

// parseCodes parses the text after the word ignore. It returns the fault of an invalid text, or "" for a valid one.
func (i *ignore) parseCodes(text string) string {
	match := ignored.FindStringSubmatch(text)
	if match == nil {
		return "the comment has no codes or no reason"
	}
	i.reason = strings.TrimSpace(match[2])
	for code := range strings.SplitSeq(match[1], ",") {
		code = strings.TrimSpace(code)
		rule, isKnown := RuleFor(code)
		switch {
		case !isKnown:
			return code + " is not a code of lint"
		case slices.Contains(notIgnored, rule.Code):
			return rule.Code + " cannot be ignored"
		}
		i.codes = append(i.codes, rule.Code)
	}
	return ""
}

// notIgnored are the codes that comments cannot ignore. Findings with these codes hide all other findings, or
// concern the comments themselves.
var notIgnored = []string{unreadable, tooLarge, badIgnore, idleIgnore}
