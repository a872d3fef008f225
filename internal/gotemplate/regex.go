// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package gotemplate

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
)

const (
	// maxPattern is the maximum length of a regular expression in bytes. maxProgram is the maximum number of
	// its instructions, with repetitions expanded.
	maxPattern = 1024
	maxProgram = 5000
	// maxMatch is the maximum number of instructions for finding one match: the size of the expression times
	// the size of the text. It corresponds to about a tenth of a second.
	maxMatch = 10 << 20
	// bytesPerMatch is the number of bytes that one match uses in the results.
	bytesPerMatch = 160
)

// regexFunctions returns the functions of sprig for regular expressions, with one difference: an invalid
// expression is an error in all of them.
func regexFunctions() []ownFunction {
	return []ownFunction{
		{names: "regexMatch mustRegexMatch", fn: regexMatch, guard: guardNothing},
		{names: "regexFind mustRegexFind", fn: regexFind, guard: guardNothing},
		{names: "regexFindAll mustRegexFindAll", fn: regexFindAll, guard: guardNothing},
		{names: "regexReplaceAll mustRegexReplaceAll", fn: regexReplaceAll, guard: guardNothing},
		{names: "regexReplaceAllLiteral mustRegexReplaceAllLiteral", fn: regexReplaceAllLiteral, guard: guardNothing},
		{names: "regexSplit mustRegexSplit", fn: regexSplit, guard: guardNothing},
		{names: "regexQuoteMeta", fn: regexp.QuoteMeta},
	}
}

// regexMatch implements regexMatch: it reports whether the text contains a match.
func regexMatch(f *frame, expression, text string) (bool, error) {
	compiled, err := f.compileFor(expression, text)
	if err != nil {
		return false, err
	}
	return compiled.regexp.MatchString(text), nil
}

// regexFind implements regexFind: it returns the first match, or "" for none.
func regexFind(f *frame, expression, text string) (string, error) {
	compiled, err := f.compileFor(expression, text)
	if err != nil {
		return "", err
	}
	return compiled.regexp.FindString(text), nil
}

// regexFindAll implements regexFindAll: it returns the first matches, or all matches for a negative maximum.
func regexFindAll(f *frame, expression, text string, maxMatches int) ([]string, error) {
	compiled, err := f.compileFor(expression, text)
	if err != nil {
		return nil, err
	}
	if _, _, err := f.countMatches(compiled, text, maxMatches); err != nil {
		return nil, err
	}
	return compiled.regexp.FindAllString(text, maxMatches), nil
}

// regexSplit implements regexSplit: it returns the texts between the matches, at most maxMatches, or all texts for a
// negative maximum.
func regexSplit(f *frame, expression, text string, maxMatches int) ([]string, error) {
	compiled, err := f.compileFor(expression, text)
	if err != nil {
		return nil, err
	}
	if _, _, err := f.countMatches(compiled, text, maxMatches); err != nil {
		return nil, err
	}
	return compiled.regexp.Split(text, maxMatches), nil
}

// regexReplaceAll implements regexReplaceAll. In the replacement, $1 stands for the first group of the match.
func regexReplaceAll(f *frame, expression, text, replacement string) (string, error) {
	compiled, err := f.compileReplacement(expression, text, replacement, strings.Count(replacement, "$"))
	if err != nil {
		return "", err
	}
	return compiled.regexp.ReplaceAllString(text, replacement), nil
}

// regexReplaceAllLiteral implements regexReplaceAllLiteral, which does not interpret the replacement.
func regexReplaceAllLiteral(f *frame, expression, text, replacement string) (string, error) {
	compiled, err := f.compileReplacement(expression, text, replacement, 0)
	if err != nil {
		return "", err
	}
	return compiled.regexp.ReplaceAllLiteralString(text, replacement), nil
}

// compileReplacement compiles an expression, and returns an error if the text after the replacement of all matches
// could be too long. Each reference in the replacement may stand for the whole match.
func (f *frame) compileReplacement(expression, text, replacement string, references int) (*pattern, error) {
	compiled, err := f.compileFor(expression, text)
	if err != nil {
		return nil, err
	}
	count, matched, err := f.countMatches(compiled, text, -1)
	if err != nil {
		return nil, err
	}
	result := len(text) + saturatingProduct(count, len(replacement)) + saturatingProduct(references, matched)
	if err := f.meter.checkTextSize(result); err != nil {
		return nil, err
	}
	return compiled, f.meter.allocate(saturatingProduct(3, result))
}

// compileFor compiles an expression. It returns an error if a match in the text could take too long.
func (f *frame) compileFor(expression, text string) (*pattern, error) {
	compiled := f.run.set.patterns.get(expression)
	if compiled == nil {
		var err error
		if compiled, err = f.compile(expression); err != nil {
			return nil, err
		}
		f.run.set.patterns.put(expression, compiled)
	}
	work := saturatingProduct(compiled.size, len(text))
	if work > maxMatch {
		return nil, overBudget(boundSteps, "the regular expression is too large for a text of %d bytes", len(text))
	}
	return compiled, f.meter.chargeCopy(len(text)/4, work)
}

// compile compiles an expression after it has checked the length and the size of the program.
func (f *frame) compile(expression string) (*pattern, error) {
	if len(expression) > maxPattern {
		return nil, overBudget(boundBytes, "the regular expression is longer than %d bytes", maxPattern)
	}
	tree, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("compiling a regular expression: %w", err)
	}
	size := programSize(tree)
	if size > maxProgram {
		return nil, overBudget(boundSteps, "the regular expression with expanded repetitions has more than %d parts", maxProgram)
	}
	if err := f.meter.allocate(saturatingProduct(size, 512)); err != nil {
		return nil, err
	}
	compiled, err := regexp.Compile(expression)
	if err != nil {
		return nil, fmt.Errorf("compiling a regular expression: %w", err)
	}
	return &pattern{regexp: compiled, size: size}, nil
}

// programSize returns the approximate number of instructions of an expression.
func programSize(tree *syntax.Regexp) int {
	size := 1 + len(tree.Rune)/8
	if tree.Op == syntax.OpLiteral {
		size = len(tree.Rune)
	}
	for _, child := range tree.Sub {
		size += programSize(child)
	}
	if tree.Op == syntax.OpRepeat {
		size = saturatingProduct(size, max(tree.Min, tree.Max, 1))
	}
	return size
}

// countMatches returns the number of matches, up to a maximum, and their total size in bytes. A search for all
// matches cannot be canceled and may take quadratic time. countMatches therefore searches for one match, then two,
// then four and so on, and may stop after each search.
func (f *frame) countMatches(compiled *pattern, text string, maxMatches int) (count, bytes int, err error) {
	elapsedBefore := f.meter.clock.elapsed()
	for limit := 1; ; limit *= 2 {
		limit = min(limit, f.meter.budget.Nodes+1)
		if maxMatches >= 0 {
			limit = min(limit, maxMatches)
		}
		spans := compiled.regexp.FindAllStringIndex(text, limit)
		if err := f.meter.allocatePieces(len(spans), bytesPerMatch); err != nil {
			return 0, 0, err
		}
		if len(spans) < limit || limit == maxMatches {
			return len(spans), matchedBytes(spans), nil
		}
		if f.meter.ctx.Err() != nil {
			return 0, 0, f.meter.checkContext()
		}
		// A short text takes very little time, even if the clock shows more.
		if saturatingProduct(limit, saturatingProduct(compiled.size, len(text))) > maxMatch && f.meter.clock.elapsed()-elapsedBefore > f.meter.budget.Timeout/4 {
			// The error does not wrap the caller's deadline, because a retry would not help.
			return 0, 0, overBudget(boundTime, "matching this text against the regular expression takes too long")
		}
	}
}

// matchedBytes returns the total length of some matches. A match is a start and an end offset.
func matchedBytes(spans [][]int) int {
	total := 0
	for _, match := range spans {
		total += match[1] - match[0]
	}
	return total
}
