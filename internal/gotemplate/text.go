// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package gotemplate

import (
	"fmt"
	"strings"
	"text/template"
	"unicode/utf8"

	"github.com/Masterminds/goutils"
)

// textFunctions returns the functions with results that may be larger than their arguments. The size of their
// results is computed before the call.
func textFunctions() []ownFunction {
	return []ownFunction{
		{names: "repeat", fn: repeatText, guard: guardNothing},
		{names: "indent", fn: indentText, guard: guardNothing},
		{names: "nindent", fn: indentAfterNewline, guard: guardNothing},
		{names: "replace", fn: replaceText, guard: guardNothing},
		{names: "wrap", fn: wrapText, guard: guardNothing},
		{names: "wrapWith", fn: wrapTextWith, guard: guardNothing},
		{names: "splitList", fn: splitList, guard: guardNothing},
		{names: "split", fn: splitText, guard: guardNothing},
		{names: "splitn", fn: splitTextN, guard: guardNothing},
		{names: "join", fn: joinItems, guard: guardPrinted(copiedPerByte)},
		{names: "cat", fn: joinValues, guard: guardPrinted(copiedPerByte)},
		{names: "print", fn: fmt.Sprint, guard: guardPrinted(copiedPerByte)},
		{names: "println", fn: fmt.Sprintln, guard: guardPrinted(copiedPerByte)},
		{names: "printf", fn: printf, guard: guardNothing},
		{names: "html", fn: template.HTMLEscaper, guard: guardPrinted(16)},
		{names: "js", fn: template.JSEscaper, guard: guardPrinted(24)},
		{names: "urlquery", fn: template.URLQueryEscaper, guard: guardPrinted(12)},
	}
}

// chargeText charges for a text before it is created. It returns an error if the text would be too long.
func (f *frame) chargeText(bytes int) error {
	if err := f.meter.checkTextSize(bytes); err != nil {
		return err
	}
	return f.meter.chargeCopy(saturatingProduct(2, bytes), bytes)
}

// repeatText implements repeat.
func repeatText(f *frame, count int, text string) (string, error) {
	if count < 0 {
		return "", fmt.Errorf("repeat takes a count that is not negative; got %d", count)
	}
	if err := f.chargeText(saturatingProduct(count, len(text))); err != nil {
		return "", err
	}
	return strings.Repeat(text, count), nil
}

// indentText implements indent: it puts spaces before each line.
func indentText(f *frame, spaces int, text string) (string, error) {
	if spaces < 0 {
		return "", fmt.Errorf("indent takes a width that is not negative; got %d", spaces)
	}
	if err := f.chargeText(len(text) + saturatingProduct(spaces, countPieces(text, "\n"))); err != nil {
		return "", err
	}
	pad := strings.Repeat(" ", spaces)
	return pad + strings.ReplaceAll(text, "\n", "\n"+pad), nil
}

// indentAfterNewline implements nindent: it puts a newline before the indented text.
func indentAfterNewline(f *frame, spaces int, text string) (string, error) {
	indented, err := indentText(f, spaces, text)
	return "\n" + indented, err
}

// replaceText implements replace, which replaces all occurrences.
func replaceText(f *frame, old, replacement, text string) (string, error) {
	if err := f.chargeText(len(text) + saturatingProduct(len(replacement), strings.Count(text, old))); err != nil {
		return "", err
	}
	return strings.ReplaceAll(text, old, replacement), nil
}

// wrapText implements wrap: it breaks a text into lines of a width in characters.
func wrapText(f *frame, width int, text string) (string, error) {
	if err := f.chargeText(saturatingProduct(2, len(text))); err != nil {
		return "", err
	}
	return goutils.Wrap(text, width), nil
}

// wrapTextWith implements wrapWith: it breaks a text into parts of a width, with a separator between them. It also
// breaks long words.
func wrapTextWith(f *frame, width int, separator, text string) (string, error) {
	if err := f.chargeText(len(text) + saturatingProduct(len(separator), len(text)/max(width, 1)+1)); err != nil {
		return "", err
	}
	return goutils.WrapCustom(text, width, separator, true), nil
}

// splitList implements splitList: it returns the parts of a text as a list.
func splitList(f *frame, separator, text string) ([]string, error) {
	if err := f.chargeSplit(separator, text, 16); err != nil {
		return nil, err
	}
	return strings.Split(text, separator), nil
}

// splitText implements split: it returns the parts of a text by the keys _0, _1 and so on.
func splitText(f *frame, separator, text string) (map[string]string, error) {
	return splitTextN(f, separator, -1, text)
}

// splitTextN implements splitn, which is split with a maximum number of parts. A negative maximum means no limit.
func splitTextN(f *frame, separator string, maxParts int, text string) (map[string]string, error) {
	if err := f.chargeSplit(separator, text, 160); err != nil {
		return nil, err
	}
	parts := map[string]string{}
	for i, part := range strings.SplitN(text, separator, maxParts) {
		parts[fmt.Sprintf("_%d", i)] = part
	}
	return parts, nil
}

// chargeSplit charges for splitting a text, with bytesEach bytes for each part, or returns an error if there are too
// many parts.
func (f *frame) chargeSplit(separator, text string, bytesEach int) error {
	parts := countPieces(text, separator)
	if separator == "" {
		parts = utf8.RuneCountInString(text)
	}
	if err := f.meter.addSteps(len(text) / bytesPerStep); err != nil {
		return err
	}
	return f.meter.allocatePieces(parts, bytesEach)
}

// joinItems implements join: it returns the items of a list, without null, with a separator between them.
func joinItems(f *frame, separator string, list any) (string, error) {
	items := toTexts(list)
	total := saturatingProduct(len(separator), len(items))
	for _, item := range items {
		total += len(item)
	}
	if err := f.chargeText(total); err != nil {
		return "", err
	}
	return strings.Join(items, separator), nil
}

// joinValues implements cat: it returns its arguments, without null, with spaces between them.
func joinValues(values ...any) string {
	var texts []string
	for _, value := range values {
		if value != nil {
			texts = append(texts, fmt.Sprintf("%v", value))
		}
	}
	return strings.Join(texts, " ")
}
