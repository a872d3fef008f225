// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package gotemplate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/BurntSushi/toml"
	"sigs.k8s.io/yaml"
	goyaml "sigs.k8s.io/yaml/goyaml.v3"
)

// codecFunctions returns the functions that print and read YAML, JSON and TOML. They use Helm's libraries, so their
// output has the same bytes. As in Helm, functions that read return an error as part of their result. Functions that
// print return an error if they cannot print the value; in Helm, they print nothing in this case.
func codecFunctions() []ownFunction {
	asYAML, asJSON := guardMarshal(yamlPerNode), guardMarshal(jsonPerNode)
	return []ownFunction{
		{names: "toYaml", fn: toYAML, guard: asYAML},
		{names: "toYamlPretty", fn: toYAMLPretty, guard: asYAML},
		{names: "toJson mustToJson", fn: toJSON, guard: asJSON},
		{names: "toPrettyJson mustToPrettyJson", fn: toPrettyJSON, guard: asJSON},
		{names: "toRawJson mustToRawJson", fn: toRawJSON, guard: asJSON},
		{names: "toToml", fn: toTOML, guard: asYAML},
		{names: "fromYaml", fn: fromYAML, guard: guardNothing},
		{names: "fromYamlArray", fn: fromYAMLArray, guard: guardNothing},
		{names: "fromJson", fn: fromJSON, guard: guardNothing},
		{names: "fromJsonArray", fn: fromJSONArray, guard: guardNothing},
		{names: "mustFromJson", fn: mustFromJSON, guard: guardNothing},
		{names: "fromToml", fn: fromTOML, guard: guardNothing},
	}
}

// guardMarshal returns a guard for functions that print a value with indentation.
func guardMarshal(perNode int) guard {
	return func(m *meter, args []any) error {
		total, err := m.measureAll(args)
		if err != nil {
			return err
		}
		memory := saturatingProduct(total.bytes, marshalPerByte) + saturatingProduct(total.nodes, perNode) +
			saturatingProduct(total.indent, 3) + saturatingProduct(total.paths, 3)
		return m.chargeCopy(memory, saturatingProduct(total.bytes, 4)+saturatingProduct(total.nodes, 256))
	}
}

// toYAML implements toYaml. The text does not end with a newline.
func toYAML(value any) (string, error) {
	text, err := yaml.Marshal(value)
	if err != nil {
		return "", fmt.Errorf("printing as YAML: %w", err)
	}
	return strings.TrimSuffix(string(text), "\n"), nil
}

// toYAMLPretty implements toYamlPretty, which indents by two spaces. The text does not end with a newline.
func toYAMLPretty(value any) (string, error) {
	var text bytes.Buffer
	encoder := goyaml.NewEncoder(&text)
	encoder.SetIndent(2)
	if err := encoder.Encode(value); err != nil {
		return "", fmt.Errorf("printing as YAML: %w", err)
	}
	return strings.TrimSuffix(text.String(), "\n"), nil
}

// toJSON implements toJson, which prints on one line and escapes HTML.
func toJSON(value any) (string, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return "", fmt.Errorf("printing as JSON: %w", err)
	}
	return string(text), nil
}

// toPrettyJSON implements toPrettyJson, which indents by two spaces and escapes HTML.
func toPrettyJSON(value any) (string, error) {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return "", fmt.Errorf("printing as JSON: %w", err)
	}
	return string(text), nil
}

// toRawJSON implements toRawJson, which prints on one line and does not escape HTML.
func toRawJSON(value any) (string, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return "", fmt.Errorf("printing as JSON: %w", err)
	}
	return strings.TrimSuffix(text.String(), "\n"), nil
}

// toTOML implements toToml.
func toTOML(value any) (string, error) {
	var text bytes.Buffer
	if err := toml.NewEncoder(&text).Encode(value); err != nil {
		return "", fmt.Errorf("printing as TOML: %w", err)
	}
	return text.String(), nil
}
