// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package gotemplate

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// formatResult returns the text of a value that an action prints. It is the text that fmt prints, but pointers are
// followed, and null is an empty text.
func (f *frame) formatResult(value any) (string, error) {
	switch value := value.(type) {
	case nil, nothing:
		return "", nil
	case string:
		return value, nil
	case bool:
		return strconv.FormatBool(value), nil
	case int:
		return strconv.Itoa(value), nil
	case addressed:
		return f.formatResult(value.Addr().Interface())
	}
	printed, err := f.meter.measure(value)
	if err == nil && printed.hasPointers {
		err = requireNoAddress([]any{value})
	}
	if err != nil {
		return "", err
	}
	if err := f.meter.chargeCopy(saturatingProduct(printed.bytes+saturatingProduct(printed.nodes, 24), 3), printed.bytes); err != nil {
		return "", err
	}
	switch value.(type) {
	case error, fmt.Stringer:
		return fmt.Sprint(value), nil
	}
	return fmt.Sprint(dereference(value)), nil
}

// toText returns the text of a value that the functions of sprig print.
func toText(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case []byte:
		return string(value)
	}
	return fmt.Sprintf("%v", value)
}

// toTexts returns the texts of the items in a list, without null. A value that is not a list counts as a list
// with one item.
func toTexts(list any) []string {
	v := reflect.ValueOf(list)
	if v.Kind() != reflect.Slice && v.Kind() != reflect.Array {
		if list == nil {
			return nil
		}
		return []string{toText(list)}
	}
	texts := make([]string, 0, v.Len())
	for i := range v.Len() {
		if item := elementValue(v.Index(i)); item != nil {
			texts = append(texts, toText(plainValue(item)))
		}
	}
	return texts
}

// printf implements the function printf. It charges for the maximum length that the verbs may print before it
// calls fmt. A width applies to each item of a list.
func printf(f *frame, format string, values ...any) (string, error) {
	total, err := f.meter.measureAll(values)
	if err != nil {
		return "", err
	}
	verbs := readFormat(format, values)
	if verbs.refused != nil {
		return "", verbs.refused
	}
	times := 1
	if verbs.picks {
		// Verbs with explicit argument indexes may all print the largest argument.
		times = verbs.count
	}
	factor := 1
	if verbs.expands {
		factor = 10
	}
	bytes := saturatingProduct(saturatingProduct(total.bytes, factor)+saturatingProduct(total.nodes, 24), times)
	padding := saturatingProduct(verbs.width, max(total.nodes, verbs.count))
	if padding > 0 {
		bytes += padding
	}
	result := len(format) + bytes + verbs.count*32
	if verbs.width > f.meter.budget.Bytes {
		return "", overBudget(boundBytes, "the text would be padded to %d bytes", verbs.width)
	}
	if err := f.meter.chargeCopy(saturatingProduct(2, result), result); err != nil {
		return "", err
	}
	if total.hasPointers {
		// Printed twice: once to find addresses.
		err := f.meter.chargeCopy(saturatingProduct(2, result), result)
		if err == nil {
			err = requireNoAddressIn(format, values)
		}
		if err != nil {
			return "", err
		}
	}
	return fmt.Sprintf(format, values...), nil
}

// verbs summarizes how much text the verbs in a format can print.
type verbs struct {
	count int
	// width is the largest width or precision of a verb.
	width int
	// picks reports whether several verbs may print the same argument. expands reports whether a verb may print
	// more than the plain text of its argument.
	picks   bool
	expands bool
	// refused is the error for the first verb that is rejected, or nil if all verbs are accepted.
	refused error
}

// readFormat parses a format. It continues after errors at which fmt would stop, so that it finds at least all
// verbs that fmt finds.
func readFormat(format string, values []any) verbs {
	var v verbs
	for {
		start := strings.IndexByte(format, '%')
		if start < 0 {
			return v
		}
		remaining := format[start+1:]
		v.count++
		end := strings.IndexFunc(remaining, func(r rune) bool { return !strings.ContainsRune("+-# 0123456789.*[]", r) })
		if end < 0 {
			end = len(remaining)
		}
		v.addFlags(remaining[:end], values)
		verb, size := utf8.DecodeRuneInString(remaining[end:])
		v.expands = v.expands || !strings.ContainsRune("svdt%", verb)
		if v.refused == nil {
			v.refused = verbError(remaining[:end], verb)
		}
		format = remaining[min(end+size, len(remaining)):]
	}
}

// addFlags adds the flags of one verb: its width and precision, which * takes from the arguments, and the index of
// its argument.
func (v *verbs) addFlags(flags string, values []any) {
	v.picks = v.picks || strings.ContainsRune(flags, '[')
	v.expands = v.expands || strings.ContainsAny(flags, "+# ")
	for _, digits := range strings.FieldsFunc(flags, func(r rune) bool { return r < '0' || r > '9' }) {
		width, err := strconv.Atoi(digits)
		if err != nil {
			width = 1 << 40
		}
		v.width = max(v.width, width)
	}
	if !strings.ContainsRune(flags, '*') {
		return
	}
	for _, value := range values {
		if number := reflect.ValueOf(value); number.CanInt() {
			v.width = max(v.width, int(number.Int()), -int(number.Int()))
		} else if number.CanUint() {
			v.width = max(v.width, int(min(number.Uint(), 1<<40)))
		}
	}
}
