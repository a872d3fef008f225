// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	vectoroptions "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/options"
)

// schemaFile is the schema of a sidecar chart's values.
const schemaFile = "values.schema.json"

// newSchema returns the command schema.
func newSchema(a *app) *cobra.Command {
	source, version := &inputs{app: a}, ""
	command := &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON schema of values files, for editors and pipelines",
		Long: `Print the JSON schema of values files. For editors, a first line
"# yaml-language-server: $schema=values.schema.json" refers to it. With --vector-version, it knows
the options of that version below sidecar.sinks and sidecar.config.raw: names, forms and values.
lint checks the options that another option requires.`,
		Example: `# for an editor
kubectl vectorsidecar schema > values.schema.json
# with every option of Vector
kubectl vectorsidecar schema --vector-version 0.57.0 > values.schema.json`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			chart, err := source.openChart()
			if err != nil {
				return err
			}
			text, err := bounded.Chart().ReadFile(chart, schemaFile)
			if err != nil {
				return fmt.Errorf("reading the schema: %w", err)
			}
			if version != "" {
				minor, err := vectoroptions.ParseMinor(version)
				if err != nil {
					return fmt.Errorf("--vector-version: %w", err)
				}
				if text, err = withOptions(text, minor); err != nil {
					return err
				}
			}
			_, err = a.Out.Write(humanize.EscapeJSON(text))
			return err
		},
	}
	command.Flags().StringVar(&source.templates, "templates", "", "directory of a sidecar chart that replaces the built-in chart, or, without Chart.yaml, of files that replace files of the built-in chart")
	command.Flags().StringVar(&version, "vector-version", "", "version of Vector, such as 0.57.0, with the options for the schema")
	return command
}

// property is the part of a JSON schema that the reference shows.
type property struct {
	Description string              `json:"description"`
	Type        any                 `json:"type"`
	Enum        []any               `json:"enum"`
	Properties  map[string]property `json:"properties"`
	Items       *property           `json:"items"`
	Ref         string              `json:"$ref"`
}

// row is a line of the reference.
type row struct{ path, kind, standard, meaning string }

// referenceRows lists the values in the schema of a chart.
func referenceRows(chart fs.FS) ([]row, error) {
	text, err := bounded.Chart().ReadFile(chart, schemaFile)
	if err != nil {
		return nil, fmt.Errorf("reading the schema: %w", err)
	}
	var root property
	if err := bounded.Schemas().DecodeJSON(text, &root); err != nil {
		return nil, fmt.Errorf("%s: %w", schemaFile, err)
	}
	if text, err = bounded.Chart().ReadFile(chart, "values.yaml"); err != nil {
		return nil, fmt.Errorf("reading the defaults: %w", err)
	}
	var defaults map[string]any
	if err := bounded.Values().DecodeYAML(text, &defaults); err != nil {
		return nil, fmt.Errorf("values.yaml: %w", err)
	}
	return root.tableRows("", defaults), nil
}

// tableRows returns a row for each value below a path that has a description, sorted by path.
func (p property) tableRows(path string, defaults any) []row {
	var rows []row
	branch, _ := defaults.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(p.Properties)) {
		childProperty, childPath := p.Properties[name], strings.TrimPrefix(path+"."+name, ".")
		if childProperty.Description != "" {
			rows = append(rows, row{childPath, childProperty.typeText(), defaultText(branch[name]), strings.ReplaceAll(childProperty.Description, "|", "\\|")})
		}
		rows = append(rows, childProperty.tableRows(childPath, branch[name])...)
	}
	return rows
}

// typeText returns the type, or the allowed values.
func (p property) typeText() string {
	if len(p.Enum) > 0 {
		var names []string
		for _, value := range p.Enum {
			names = append(names, fmt.Sprintf("`%v`", value))
		}
		return strings.Join(names, ", ")
	}
	switch kind := p.Type.(type) {
	case string:
		return kind
	case []any:
		var names []string
		for _, name := range kind {
			names = append(names, fmt.Sprint(name))
		}
		return strings.Join(names, " or ")
	}
	return "any"
}

// defaultText returns a default value as users write it in a values file, or "" for a map.
func defaultText(value any) string {
	if tree, isMap := value.(map[string]any); value == nil || isMap && len(tree) > 0 {
		return ""
	}
	text, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return "`" + string(text) + "`"
}
