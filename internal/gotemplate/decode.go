// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package gotemplate

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
)

// fromYAML implements fromYaml, which reads a map. If the text is invalid, the map has the error as its key Error, as
// in Helm. The returned error is only for a text that exceeds the budget.
func fromYAML(f *frame, text string) (map[string]any, error) {
	tree := map[string]any{}
	if err := f.measureYAML(text); err != nil {
		return nil, err
	}
	if err := f.decodeLimits().DecodeYAML([]byte(text), &tree); err != nil {
		tree["Error"] = err.Error()
	}
	return tree, nil
}

// fromYAMLArray implements fromYamlArray, which reads a list. If the text is invalid, the list contains only the
// error, as in Helm. The returned error is only for a text that exceeds the budget.
func fromYAMLArray(f *frame, text string) ([]any, error) {
	list := []any{}
	if err := f.measureYAML(text); err != nil {
		return nil, err
	}
	if err := f.decodeLimits().DecodeYAML([]byte(text), &list); err != nil {
		list = []any{err.Error()}
	}
	return list, nil
}

// fromJSON implements fromJson, which reads a map. If the text is invalid, the map has the error as its key Error, as
// in Helm. The returned error is only for a text that exceeds the budget.
func fromJSON(f *frame, text string) (map[string]any, error) {
	tree := map[string]any{}
	if err := f.measureJSON(text); err != nil {
		return nil, err
	}
	if err := f.decodeLimits().DecodeJSON([]byte(text), &tree); err != nil {
		tree["Error"] = err.Error()
	}
	return tree, nil
}

// fromJSONArray implements fromJsonArray, which reads a list. If the text is invalid, the list contains only the
// error, as in Helm. The returned error is only for a text that exceeds the budget.
func fromJSONArray(f *frame, text string) ([]any, error) {
	list := []any{}
	if err := f.measureJSON(text); err != nil {
		return nil, err
	}
	if err := f.decodeLimits().DecodeJSON([]byte(text), &list); err != nil {
		list = []any{err.Error()}
	}
	return list, nil
}

// mustFromJSON implements mustFromJson, which reads a value of any type, and returns an error for an invalid text.
func mustFromJSON(f *frame, text string) (any, error) {
	if err := f.measureJSON(text); err != nil {
		return nil, err
	}
	var value any
	if err := f.decodeLimits().DecodeJSON([]byte(text), &value); err != nil {
		return nil, fmt.Errorf("reading JSON: %w", err)
	}
	return value, nil
}

// fromTOML implements fromToml, which reads a map. If the text is invalid, the map has the error as its key Error, as
// in Helm. The returned error is only for a text that exceeds the budget.
func fromTOML(f *frame, text string) (map[string]any, error) {
	if err := f.measureTOML(text); err != nil {
		return nil, err
	}
	if err := f.meter.allocate(tomlPaths(text)); err != nil {
		return nil, err
	}
	tree := map[string]any{}
	if err := f.decodeLimits().DecodeTOML([]byte(text), &tree); err != nil {
		tree["Error"] = err.Error()
	}
	replaceDates(tree)
	return tree, nil
}

// tomlPaths returns the approximate number of bytes that the TOML reader allocates for key paths. The reader joins the
// whole path at each step, and copies the path of the table for each key. The result counts dots in values as dots in
// keys, because only a parser could distinguish them.
func tomlPaths(text string) int {
	const perStep = 64
	tables := strings.Count(text, "{")
	lines, longest := 0, 0
	total := saturatingProduct(perStep, saturatingProduct(tables, tables))
	for line := range strings.Lines(text) {
		dots := strings.Count(line, ".")
		lines, longest = lines+1, max(longest, dots)
		total += saturatingProduct(perStep, saturatingProduct(dots, dots))
	}
	return total + saturatingProduct(perStep, saturatingProduct(lines+tables, longest+tables))
}

// replaceDates replaces the dates in a value by texts, because the text of a date depends on the local time zone. It
// changes maps and lists in place, and returns the value or its replacement.
func replaceDates(value any) any {
	switch value := value.(type) {
	case time.Time:
		return dateText(value)
	case map[string]any:
		for key := range value {
			value[key] = replaceDates(value[key])
		}
	case []any:
		for i := range value {
			value[i] = replaceDates(value[i])
		}
	case []map[string]any:
		for i := range value {
			replaceDates(value[i])
		}
	}
	return value
}

// dateText returns the text of a date in the form of TOML. A local date does not have a time zone.
func dateText(date time.Time) string {
	layouts := map[string]string{
		"datetime-local": "2006-01-02T15:04:05.999999999", "date-local": time.DateOnly, "time-local": "15:04:05.999999999",
	}
	if layout, ok := layouts[date.Location().String()]; ok {
		return date.Format(layout)
	}
	return date.Format(time.RFC3339Nano)
}

// decodeCost is the number of bytes that a reader allocates: for each byte of a text, and for each node in it.
type decodeCost struct{ perByte, perNode int }

func yamlCost() decodeCost { return decodeCost{perByte: 40, perNode: 700} }
func tomlCost() decodeCost { return decodeCost{perByte: 16, perNode: 700} }
func jsonCost() decodeCost { return decodeCost{perByte: 4, perNode: 160} }

// decodeLimits returns the limits, according to the budget, for a text that a template reads.
func (f *frame) decodeLimits() bounded.Limits {
	limits := bounded.Values()
	limits.Subject, limits.Bytes, limits.Nodes, limits.Depth = "a text that a template reads", f.meter.budget.Bytes, f.meter.budget.Nodes, f.meter.budget.Depth
	return limits
}

func (f *frame) measureYAML(text string) error {
	return f.chargeDecoding(text, f.decodeLimits().MeasureYAML, yamlCost())
}

func (f *frame) measureJSON(text string) error {
	return f.chargeDecoding(text, f.decodeLimits().MeasureJSON, jsonCost())
}

func (f *frame) measureTOML(text string) error {
	return f.chargeDecoding(text, f.decodeLimits().MeasureTOML, tomlCost())
}

// chargeDecoding charges for reading a text: first for its length, and then for its content.
func (f *frame) chargeDecoding(text string, measure func([]byte) (bounded.Size, error), cost decodeCost) error {
	if err := f.meter.chargeCopy(saturatingProduct(len(text), cost.perByte), saturatingProduct(len(text), 4)); err != nil {
		return err
	}
	size, err := measure([]byte(text))
	var refused *bounded.Error
	if errors.As(err, &refused) {
		return overBudget(budgetName(refused.Bound), "%s", refused.Error())
	}
	return f.meter.allocatePieces(size.Nodes, cost.perNode)
}

// budgetName returns the name of the bound in Error.Budget for a limit of package bounded.
func budgetName(bound bounded.Bound) string {
	switch bound {
	case bounded.Bytes:
		return boundBytes
	case bounded.Depth:
		return boundDepth
	}
	return boundNodes
}
