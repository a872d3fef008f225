// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package gotemplate

import (
	"fmt"
	"math"
	"reflect"
	"strings"
)

// These constants limit the bytes that a call of a template function may allocate: per byte of the strings, and
// per node (map, list, or scalar) of the values in its arguments. TestBudget_LimitsMemoryOfFunctions and
// TestBudget_LimitsMemoryOfDecodersAndPrinters check the limits with all template functions.
const (
	copiedPerByte  = 2
	copiedPerNode  = 64
	bytesPerStep   = 1024
	marshalPerByte = 16
	jsonPerNode    = 300
	yamlPerNode    = 1500
)

// guardDeep is the guard of functions that may traverse all of their arguments, and return about as much data
// as they get.
func guardDeep(m *meter, args []any) error {
	return guardCost(copiedPerByte, copiedPerNode)(m, args)
}

// guardCost returns a guard that charges perByte bytes for each byte of text in the arguments, and perNode for each
// node.
func guardCost(perByte, perNode int) guard {
	return func(m *meter, args []any) error {
		total, err := m.measureAll(args)
		if err != nil {
			return err
		}
		return m.chargeCopy(saturatingProduct(total.bytes, perByte)+saturatingProduct(total.nodes, perNode), total.bytes)
	}
}

// guardPrinted returns a guard for functions that print their arguments. It charges perByte bytes for each byte of
// text, and rejects values with an address.
func guardPrinted(perByte int) guard {
	return func(m *meter, args []any) error {
		total, err := m.measureAll(args)
		if err == nil && total.hasPointers {
			err = requireNoAddress(args)
		}
		if err != nil {
			return err
		}
		return m.chargeCopy(saturatingProduct(total.bytes, perByte)+saturatingProduct(total.nodes, copiedPerNode), total.bytes)
	}
}

// chargeCopy charges memory in bytes, and the steps that the processing of touched bytes takes.
func (m *meter) chargeCopy(memory, touched int) error {
	if err := m.allocate(memory); err != nil {
		return err
	}
	return m.addSteps(touched / bytesPerStep)
}

// measureAll returns the total size of some values.
func (m *meter) measureAll(args []any) (size, error) {
	var total size
	for _, arg := range args {
		argSize, err := m.measure(arg)
		if err != nil {
			return total, err
		}
		total.addSize(argSize)
	}
	return total, nil
}

// guardShallow is the guard of functions that read their arguments and the items in them, but not the content
// of the items. Examples are append and concat.
func guardShallow(m *meter, args []any) error {
	m.watch.recordWhole(args...)
	return guardUnread(m, args)
}

// guardUnread is the guard of functions that put their arguments into a list without reading them: list and
// tuple.
func guardUnread(m *meter, args []any) error {
	items := 0
	for _, arg := range args {
		items += length(arg)
	}
	if items > m.budget.Nodes {
		return m.allocatePieces(items, 0)
	}
	return m.chargeCopy(saturatingProduct(items, copiedPerNode), saturatingProduct(items, 16))
}

// guardKey is the guard of functions that look up one key in a map: get and hasKey.
func guardKey(m *meter, args []any) error {
	if key, isText := args[1].(string); isText {
		m.watch.recordKey(args[0], key)
	}
	return nil
}

// guardPluck is the guard of pluck, which looks up its first argument in the maps that follow.
func guardPluck(m *meter, args []any) error {
	if key, isText := args[0].(string); isText {
		for _, tree := range args[1:] {
			m.watch.recordKey(tree, key)
		}
	}
	return nil
}

// guardNothing is the guard of functions that read only the type of an argument or whether it is empty.
// Functions that charge for themselves also use it.
func guardNothing(*meter, []any) error { return nil }

// guardTexts is the guard of functions that compare strings and do not traverse maps or lists.
func guardTexts(m *meter, args []any) error {
	bytes := 0
	for _, arg := range args {
		if text, ok := arg.(string); ok {
			bytes += len(text)
		}
	}
	return m.addSteps(bytes / bytesPerStep)
}

// length returns the number of items in a map or a list, or 0 for other values.
func length(value any) int {
	switch value := value.(type) {
	case []any:
		return len(value)
	case map[string]any:
		return len(value)
	case nil, string, bool, int, int64, float64:
		return 0
	}
	v := reflect.ValueOf(value)
	switch v.Kind() {
	case reflect.Map, reflect.Slice, reflect.Array:
		return v.Len()
	}
	return 0
}

// guardDict is the guard of dict. It measures the keys, which are printed, but not the values.
func guardDict(m *meter, args []any) error {
	for i := 0; i < len(args); i += 2 {
		if err := guardPrinted(copiedPerByte)(m, args[i:i+1]); err != nil {
			return err
		}
	}
	return m.chargeCopy(saturatingProduct(len(args), copiedPerNode), 0)
}

// guardPairs is the guard of functions that compare each item with each other item, such as uniq and without.
func guardPairs(m *meter, args []any) error {
	total, err := m.measureAll(args)
	if err != nil {
		return err
	}
	longest := 0
	for _, arg := range args {
		longest = max(longest, length(arg))
	}
	longest = max(longest, len(args))
	if err := m.addSteps(saturatingProduct(longest, total.nodes) / 16); err != nil {
		return err
	}
	return m.chargeCopy(saturatingProduct(total.nodes, copiedPerNode), total.bytes)
}

// guardShort is the guard of functions that parse numbers or versions. It rejects long arguments, because the
// parsers are not designed for long texts.
func guardShort(m *meter, args []any) error {
	if err := m.checkShort(args); err != nil {
		return err
	}
	return guardDeep(m, args)
}

// checkShort returns an error if one of the arguments is a text of more than 4,096 bytes.
func (m *meter) checkShort(args []any) error {
	const maxBytes = 4096
	for _, arg := range args {
		if text, ok := arg.(string); ok && len(text) > maxBytes {
			return overBudget(boundBytes, "the argument is longer than %d bytes", maxBytes)
		}
	}
	return nil
}

// guardNumbers checks the arguments of functions that compute with decimals, and charges the result to the budget before
// the call. The result may have as many digits as all arguments together.
func guardNumbers(m *meter, args []any) error {
	const maxArguments = 64
	if len(args) > maxArguments {
		return overBudget(boundSteps, "the call has more than %d arguments", maxArguments)
	}
	if err := m.checkShort(args); err != nil {
		return err
	}
	return guardCost(copiedPerByte, 4096)(m, args)
}

// guardClock is the guard of durationRound. It rejects arguments that would make durationRound read the clock.
func guardClock(m *meter, args []any) error {
	for _, arg := range args {
		if kind := reflect.ValueOf(arg).Kind(); kind == reflect.Struct || kind == reflect.Pointer {
			return fmt.Errorf("durationRound takes a duration; with %s it would read the clock", describeType(arg))
		}
	}
	return guardDeep(m, args)
}

// guardChunk is the guard of chunk. It rejects sizes for which the number of chunks is undefined.
func guardChunk(m *meter, args []any) error {
	if size, ok := args[0].(int); ok && (size < 1 || size > math.MaxInt32) {
		return fmt.Errorf("chunk takes a size of at least 1, not %d", size)
	}
	return guardShallow(m, args)
}

// countPieces returns the number of strings that strings.Split would return.
func countPieces(text, separator string) int { return strings.Count(text, separator) + 1 }
