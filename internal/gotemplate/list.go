// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package gotemplate

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// listFunctions returns the functions that create lists of numbers, and replacements for functions of sprig
// with results in the random order of Go's maps.
func listFunctions() []ownFunction {
	return []ownFunction{
		{names: "until", fn: numbersUntil, guard: guardNothing},
		{names: "untilStep", fn: untilStep, guard: guardNothing},
		{names: "seq", fn: seq, guard: guardNothing},
		{names: "keys", fn: keysOfMaps, guard: guardShallow},
		{names: "values", fn: valuesOfMap, guard: guardShallow},
		{names: "deepCopy mustDeepCopy", fn: deepCopy, guard: guardCost(copiedPerByte, 128)},
	}
}

// numbersUntil implements until: it returns the numbers from 0 to end, without end. A negative end counts down.
func numbersUntil(f *frame, end int) ([]int, error) {
	step := 1
	if end < 0 {
		step = -1
	}
	return untilStep(f, 0, end, step)
}

// untilStep returns the numbers from start to end, without end. If the step has the wrong direction, the list
// is empty.
func untilStep(f *frame, start, end, step int) ([]int, error) {
	if start == end || step == 0 || (end > start) != (step > 0) {
		return []int{}, nil
	}
	// Unsigned 64-bit arithmetic, so that differences cannot overflow.
	distance, stride := uint64(end)-uint64(start), uint64(step) //nolint:gosec // it wraps around on purpose
	if step < 0 {
		distance, stride = -distance, -stride
	}
	items := (distance-1)/stride + 1
	length := int(min(items, 1<<40))
	if err := f.meter.allocatePieces(length, 8); err != nil {
		return nil, err
	}
	numbers := make([]int, length)
	for i := range numbers {
		numbers[i] = start + i*step
	}
	return numbers, f.meter.addSteps(length / 8)
}

// seq returns a sequence of numbers as text, including its end, like the command seq. Its arguments are end;
// start and end; or start, step and end.
func seq(f *frame, params ...int) (string, error) {
	if len(params) < 1 || len(params) > 3 {
		return "", nil
	}
	start, step, end := 1, 1, params[len(params)-1]
	if len(params) > 1 {
		start = params[0]
	}
	if len(params) > 2 {
		step = params[1]
	}
	inclusive := 1
	if end < start {
		inclusive = -1
	}
	if len(params) < 3 {
		step = inclusive
	}
	if inclusive < 0 && step > 0 {
		return "", nil
	}
	if (inclusive > 0 && end == 1<<63-1) || (inclusive < 0 && end == -1<<63) {
		return "", errors.New("seq ends at a number that is too large")
	}
	numbers, err := untilStep(f, start, end+inclusive, step)
	if err != nil {
		return "", err
	}
	texts := make([]string, len(numbers))
	for i, number := range numbers {
		texts[i] = strconv.Itoa(number)
	}
	return strings.Join(texts, " "), f.meter.chargeCopy(saturatingProduct(len(texts), 64), 0)
}

func sortedKeys(tree map[string]any) []string { return slices.Sorted(maps.Keys(tree)) }

// keysOfMaps returns the keys of some maps. The keys of each map are sorted.
func keysOfMaps(trees ...map[string]any) []string {
	keys := []string{}
	for _, tree := range trees {
		keys = append(keys, sortedKeys(tree)...)
	}
	return keys
}

// valuesOfMap returns the values of a map in the order of their keys.
func valuesOfMap(tree map[string]any) []any {
	values := make([]any, 0, len(tree))
	for _, key := range sortedKeys(tree) {
		values = append(values, tree[key])
	}
	return values
}

// deepCopy implements deepCopy. It returns an error for null.
func deepCopy(value any) (any, error) {
	if value == nil {
		return nil, fmt.Errorf("the value to copy is null")
	}
	return copyValue(value), nil
}
