// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package template

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/BurntSushi/toml"
	"sigs.k8s.io/yaml"
	goyaml "sigs.k8s.io/yaml/goyaml.v3"
)

func fromYAML(f *frame, text string) (map[string]any, error) {
	tree := map[string]any{}
	if err := f.readsYAML(text); err != nil {
		return nil, err
	}
	if err := yaml.Unmarshal([]byte(text), &tree); err != nil {
		tree["Error"] = err.Error()
	}
	return tree, nil
}

func fromYAMLArray(f *frame, text string) ([]any, error) {
	list := []any{}
	if err := f.readsYAML(text); err != nil {
		return nil, err
	}
	if err := yaml.Unmarshal([]byte(text), &list); err != nil {
		list = []any{err.Error()}
	}
	return list, nil
}

func fromJSON(f *frame, text string) (map[string]any, error) {
	tree := map[string]any{}
	if err := f.reads(text, jsonCost()); err != nil {
		return nil, err
	}
	if err := json.Unmarshal([]byte(text), &tree); err != nil {
		tree["Error"] = err.Error()
	}
	return tree, nil
}

func fromJSONArray(f *frame, text string) ([]any, error) {
	list := []any{}
	if err := f.reads(text, jsonCost()); err != nil {
		return nil, err
	}
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		list = []any{err.Error()}
	}
	return list, nil
}

func mustFromJSON(f *frame, text string) (any, error) {
	if err := f.reads(text, jsonCost()); err != nil {
		return nil, err
	}
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		return nil, fmt.Errorf("reading JSON: %w", err)
	}
	return value, nil
}

func fromTOML(f *frame, text string) (map[string]any, error) {
	// The reader recurses into brackets, and knows no bound of its own.
	const maxBrackets = 10_000
	if strings.Count(text, "[")+strings.Count(text, "{") > maxBrackets {
		return nil, overBudget(boundNodes, "the TOML has more than %d brackets", maxBrackets)
	}
	if err := f.reads(text, tomlCost()); err != nil {
		return nil, err
	}
	if err := f.allocate(tomlPaths(text)); err != nil {
		return nil, err
	}
	tree := map[string]any{}
	if err := toml.Unmarshal([]byte(text), &tree); err != nil {
		tree["Error"] = err.Error()
	}
	withoutDate(tree)
	return tree, nil
}

// tomlPaths is about what the TOML reader allocates for the paths of keys: it
// joins the whole path at each step of it, and copies that of the table for each
// key. Dots in values count as well, since only parsing could tell them apart.
func tomlPaths(text string) int {
	const perStep = 64
	tables := strings.Count(text, "{")
	lines, longest := 0, 0
	total := product(perStep, product(tables, tables))
	for line := range strings.Lines(text) {
		dots := strings.Count(line, ".")
		lines, longest = lines+1, max(longest, dots)
		total += product(perStep, product(dots, dots))
	}
	return total + product(perStep, product(lines+tables, longest+tables))
}

// withoutDate turns dates into text, in place: a date prints the local time zone.
func withoutDate(value any) any {
	switch value := value.(type) {
	case time.Time:
		return dateText(value)
	case map[string]any:
		for key := range value {
			value[key] = withoutDate(value[key])
		}
	case []any:
		for i := range value {
			value[i] = withoutDate(value[i])
		}
	case []map[string]any:
		for i := range value {
			withoutDate(value[i])
		}
	}
	return value
}

// dateText prints a date as it stood in the TOML: one that is local there has no
// time zone.
func dateText(date time.Time) string {
	layouts := map[string]string{
		"datetime-local": "2006-01-02T15:04:05.999999999", "date-local": time.DateOnly, "time-local": "15:04:05.999999999",
	}
	if layout, ok := layouts[date.Location().String()]; ok {
		return date.Format(layout)
	}
	return date.Format(time.RFC3339Nano)
}

// decodeCost is what reading a text allocates: for each byte, and for each piece
// that the punctuation can make.
type decodeCost struct {
	perByte     int
	perPiece    int
	punctuation string
}

func yamlCost() decodeCost { return decodeCost{perByte: 16, perPiece: 700, punctuation: ",:[{-?"} }
func tomlCost() decodeCost { return decodeCost{perByte: 16, perPiece: 700, punctuation: ",=[{."} }
func jsonCost() decodeCost { return decodeCost{perByte: 4, perPiece: 160, punctuation: ",:[{"} }

// reads charges for reading a text.
func (f *frame) reads(text string, cost decodeCost) error {
	pieces := 1
	for i := range len(text) {
		if strings.IndexByte(cost.punctuation, text[i]) >= 0 {
			pieces++
		}
	}
	if err := f.pay(product(len(text), cost.perByte), product(len(text), 4)); err != nil {
		return err
	}
	return f.pieces(pieces, cost.perPiece)
}

// readsYAML is reads, and counts what aliases stand for, of which a few lines
// can make billions.
func (f *frame) readsYAML(text string) error {
	if err := f.reads(text, yamlCost()); err != nil {
		return err
	}
	if !strings.Contains(text, "*") || !strings.Contains(text, "&") {
		return nil
	}
	var document goyaml.Node
	if err := goyaml.Unmarshal([]byte(text), &document); err != nil {
		// The reader itself will say what is wrong.
		return nil //nolint:nilerr // the error is the reader's to report
	}
	nodes := expandedNodes(&document, f.budget.Nodes, f.budget.Depth)
	return f.pieces(nodes, yamlCost().perPiece)
}

// expandedNodes counts nodes with each alias written out, and stops counting
// past most. A chain of aliases deeper than the depth counts as too many.
func expandedNodes(node *goyaml.Node, most, depth int) int {
	if node.Kind == goyaml.AliasNode {
		if depth == 0 {
			return most + 1
		}
		return expandedNodes(node.Alias, most, depth-1)
	}
	nodes := 1
	for _, child := range node.Content {
		if nodes > most {
			return nodes
		}
		nodes += expandedNodes(child, most-nodes, depth)
	}
	return nodes
}
