// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package vectorconfig reads Vector configuration and finds what would keep
// Vector from starting. It does not run Vector.
package vectorconfig

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v3"
)

// Check reads a configuration, whose format the extension of its file name
// tells, and returns what is wrong with it. The error names file, line where it
// is known, and component.
func Check(file, text string) error {
	config, err := parse(file, text)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	var findings []error
	_, remote := config["provider"] // The configuration itself comes from elsewhere.
	for _, kind := range []string{"sources", "sinks"} {
		if len(components(config, kind)) == 0 && !remote {
			findings = append(findings, fmt.Errorf("%s: %s is empty: Vector does not start without at least one source and one sink", file, kind))
		}
	}
	for _, kind := range []string{"sources", "transforms", "sinks"} {
		of := components(config, kind)
		for _, id := range slices.Sorted(maps.Keys(of)) {
			for _, finding := range checkComponent(kind, of[id]) {
				findings = append(findings, fmt.Errorf("%s: %s.%s: %w", file, kind, id, finding))
			}
		}
	}
	return errors.Join(findings...)
}

func parse(file, text string) (map[string]any, error) {
	var config map[string]any
	switch extension := path.Ext(file); extension {
	case ".yaml", ".yml", ".json":
		if err := yaml.Unmarshal([]byte(text), &config); err != nil {
			return nil, errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
		}
	case ".toml":
		err := toml.Unmarshal([]byte(text), &config)
		var syntax *toml.DecodeError
		if errors.As(err, &syntax) {
			row, column := syntax.Position()
			return nil, fmt.Errorf("line %d, column %d: %s", row, column, syntax.Error())
		}
		if err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("the extension %q is none of .yaml, .yml, .json, .toml, by which Vector tells the format", extension)
	}
	return config, nil
}

func components(config map[string]any, kind string) map[string]any {
	of, _ := config[kind].(map[string]any)
	return of
}

func checkComponent(kind string, component any) []error {
	options, ok := component.(map[string]any)
	if !ok {
		return []error{errors.New("must be a map with a type")}
	}
	var findings []error
	if name, ok := options["type"].(string); !ok || name == "" {
		findings = append(findings, errors.New("type is missing"))
	}
	if kind == "sources" {
		return findings
	}
	if inputs, ok := options["inputs"].([]any); !ok || len(inputs) == 0 {
		findings = append(findings, errors.New("inputs must be a list of at least one source or transform"))
	}
	return findings
}
