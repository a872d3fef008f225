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

// ignore is a comment that makes lint ignore findings of one line:
//
//	# vectorsidecar: ignore CODE, CODE because REASON
//
// The comment applies to its own line. A comment alone on a line applies to the next line that is not a comment.
type ignore struct {
	at     place
	line   int
	codes  []string
	reason string
}

var (
	ignoring = regexp.MustCompile(`(^|\s)#\s*vectorsidecar:\s*ignore\b(.*)$`)
	ignored  = regexp.MustCompile(`^\s+(\w+(?:\s*,\s*\w+)*)\s+because\s+(\S.*)$`)
)

// suppress removes the findings that comments of a file ignore from a result, and adds findings for invalid comments.
func (r *Result) suppress(file File) {
	if path.Ext(file.Name) == ".json" {
		return // It has no comments.
	}
	ignores, findings := ignoresOf(file)
	for _, one := range ignores {
		for _, code := range one.codes {
			isOf := func(f Finding) bool { return f.File == file.Name && f.Line == one.line && f.Code == code }
			if !slices.ContainsFunc(r.Findings, isOf) {
				findings = append(findings, newFinding(idleIgnore, file.Name, "no finding "+code+" at this line").at(one.at, ""))
				continue
			}
			r.Findings = slices.DeleteFunc(r.Findings, func(f Finding) bool {
				if !isOf(f) {
					return false
				}
				f.Ignored = one.reason
				r.Ignored = append(r.Ignored, f)
				return true
			})
		}
	}
	r.Findings = append(r.Findings, findings...)
}

// ignoresOf reads the comments of a file, and returns findings for invalid ones.
func ignoresOf(file File) (ignores []ignore, findings []Finding) {
	var waiting []ignore
	number := 0
	for line := range bytes.Lines(file.Text) {
		number++
		text := strings.TrimRight(string(line), "\r\n")
		before, _, _ := strings.Cut(text, "#")
		isAlone := strings.TrimSpace(before) == ""
		if !isAlone {
			for _, one := range waiting {
				one.line = number
				ignores = append(ignores, one)
			}
			waiting = nil
		}
		found := ignoring.FindStringSubmatchIndex(text)
		if found == nil {
			continue
		}
		one := ignore{at: place{line: number, column: found[3] + 1}, line: number}
		if message := one.read(text[found[4]:found[5]]); message != "" {
			findings = append(findings, newFinding(badIgnore, file.Name, message).at(one.at, ""))
			continue
		}
		if isAlone {
			waiting = append(waiting, one)
			continue
		}
		ignores = append(ignores, one)
	}
	return append(ignores, waiting...), findings
}

// read parses the text after the word ignore. It returns a message if the text is invalid, else "".
func (i *ignore) read(text string) string {
	match := ignored.FindStringSubmatch(text)
	if match == nil {
		return "the comment has no codes or no reason"
	}
	i.reason = strings.TrimSpace(match[2])
	for code := range strings.SplitSeq(match[1], ",") {
		code = strings.TrimSpace(code)
		rule, isKnown := RuleOf(code)
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

// notIgnored are codes that cannot be ignored, because they hide all other findings, or concern the comments
// themselves.
var notIgnored = []string{unreadable, tooLarge, badIgnore, idleIgnore}
