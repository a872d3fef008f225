// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// keys are the sidecar chart's values that an installation can set.
var keys = []string{"global", "sidecar", "initContainers", "volumes", "values"}

type node = map[string]any

// begin and end are what the generated part of the installation chart's schema stands
// between: its last property.
const (
	begin = "\n  \"definitions\": "
	end   = "\n}\n"
)

// withDefinitions returns the installation chart's schema with definitions from the sidecar chart's schema: each
// key as a whole, and each with only the names of its keys.
func withDefinitions(installation, sidecar []byte) ([]byte, error) {
	properties, err := propertiesOf(sidecar)
	if err != nil {
		return nil, err
	}
	definitions, names := node{}, node{}
	for _, key := range keys {
		definitions[key], names[key] = values(properties[key]), onlyNames(properties[key])
	}
	definitions["names"] = node{"properties": names}
	at := bytes.Index(installation, []byte(begin))
	if at < 0 {
		return nil, fmt.Errorf("there is no %q", begin)
	}
	text, err := json.MarshalIndent(definitions, "  ", "  ")
	if err != nil {
		return nil, err
	}
	return slices.Concat(installation[:at+len(begin)], text, []byte(end)), nil
}

// namesFile returns only the names, which the installation chart reads if a template set adds some.
func namesFile(sidecar []byte) ([]byte, error) {
	properties, err := propertiesOf(sidecar)
	if err != nil {
		return nil, err
	}
	names := node{}
	for _, key := range keys {
		names[key] = onlyNames(properties[key])
	}
	text, err := json.MarshalIndent(node{"properties": names}, "", "  ")
	return append(text, '\n'), err
}

func propertiesOf(schema []byte) (node, error) {
	var read struct {
		Properties node `json:"properties"`
	}
	if err := json.Unmarshal(schema, &read); err != nil {
		return nil, fmt.Errorf("the sidecar chart's schema: %w", err)
	}
	for _, key := range keys {
		if read.Properties[key] == nil {
			return nil, fmt.Errorf("the sidecar chart's schema has no property %q", key)
		}
	}
	return read.Properties, nil
}

// values returns the schema of a value in a layer. It also accepts null, which removes the value of a lower layer,
// and unknown keys, which onlyNames checks.
func values(of any) any {
	schema, ok := of.(node)
	if !ok {
		return of
	}
	schema = maps.Clone(schema)
	switch types := schema["type"].(type) {
	case string:
		schema["type"] = []any{types, "null"}
	case []any:
		if !slices.Contains(types, any("null")) {
			schema["type"] = append(slices.Clone(types), "null")
		}
	}
	if choices, ok := schema["enum"].([]any); ok && !slices.Contains(choices, nil) {
		schema["enum"] = append(slices.Clone(choices), nil)
	}
	if isOpen, ok := schema["additionalProperties"].(bool); ok && !isOpen {
		delete(schema, "additionalProperties")
	}
	for _, below := range []string{"properties", "patternProperties"} {
		if properties, ok := schema[below].(node); ok {
			schema[below] = each(properties, values)
		}
	}
	if more, ok := schema["additionalProperties"]; ok {
		schema["additionalProperties"] = values(more)
	}
	return schema
}

// onlyNames returns the part of a schema about the names of keys.
func onlyNames(of any) any {
	schema, _ := of.(node)
	names := node{}
	if properties, ok := schema["properties"].(node); ok {
		names["properties"] = each(properties, onlyNames)
	}
	switch more := schema["additionalProperties"].(type) {
	case bool:
		names["additionalProperties"] = more
	case node:
		names["additionalProperties"] = onlyNames(more)
	}
	return names
}

func each(of node, change func(any) any) node {
	changed := node{}
	for name, below := range of {
		changed[name] = change(below)
	}
	return changed
}
