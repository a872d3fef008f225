// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// definitions are the CustomResourceDefinitions of the kinds that users write.
var definitions = []string{
	"chart/files/crds/observability.kontroloop.ai_vectorsidecars.yaml",
	"chart/files/crds/observability.kontroloop.ai_clustervectorsidecars.yaml",
}

// valuesSchemas are the schemas of values files, by their names on the site.
var valuesSchemas = map[string]string{
	"installation-values.json": "chart/values.schema.json",
	"sidecar-values.json":      "values.schema.json",
}

// addSchemas adds the JSON schemas of the kinds and of values files.
func addSchemas(repository fs.FS, files map[string][]byte) error {
	for to, name := range valuesSchemas {
		text, err := fs.ReadFile(repository, name)
		if err != nil {
			return err
		}
		var schema map[string]any
		if err := json.Unmarshal(text, &schema); err != nil {
			return fmt.Errorf("reading %s: %w", name, err)
		}
		acceptPartial(schema)
		if files[path.Join("pages/schemas", to)], err = json.MarshalIndent(schema, "", "  "); err != nil {
			return err
		}
	}
	for _, name := range definitions {
		text, err := fs.ReadFile(repository, name)
		if err != nil {
			return err
		}
		var definition apiextensionsv1.CustomResourceDefinition
		if err := yaml.Unmarshal(text, &definition); err != nil {
			return fmt.Errorf("reading %s: %w", name, err)
		}
		for _, version := range definition.Spec.Versions {
			schema, err := kindSchema(definition.Spec.Group, definition.Spec.Names.Kind, version)
			if err != nil {
				return fmt.Errorf("reading the schema of %s: %w", name, err)
			}
			files[fmt.Sprintf("pages/schemas/%s_%s.json", definition.Spec.Names.Singular, version.Name)] = schema
		}
	}
	return nil
}

// kindSchema returns the JSON schema of a kind. It accepts objects of other kinds, because an editor uses one schema for
// all documents of a file.
func kindSchema(group, kind string, version apiextensionsv1.CustomResourceDefinitionVersion) ([]byte, error) {
	text, err := json.Marshal(version.Schema.OpenAPIV3Schema)
	if err != nil {
		return nil, err
	}
	var object map[string]any
	if err := json.Unmarshal(text, &object); err != nil {
		return nil, err
	}
	rejectUnknown(object)
	object["properties"].(map[string]any)["apiVersion"] = map[string]any{"const": group + "/" + version.Name}
	object["required"] = []string{"apiVersion", "kind", "metadata", "spec"}
	return json.MarshalIndent(map[string]any{
		"$schema": "http://json-schema.org/draft-07/schema#",
		"title":   kind,
		"if":      map[string]any{"properties": map[string]any{"kind": map[string]any{"const": kind}}},
		"then":    object,
	}, "", "  ")
}

// acceptPartial makes a schema accept a values file that has only some of the values: helm uses it after it has merged
// the defaults.
func acceptPartial(schema map[string]any) {
	delete(schema, "required")
	properties, _ := schema["properties"].(map[string]any)
	for _, property := range properties {
		if property, isSchema := property.(map[string]any); isSchema {
			acceptPartial(property)
		}
	}
}

// rejectUnknown makes a schema reject fields that the API server would remove, and drops keys that only the API server
// knows.
func rejectUnknown(value any) {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			rejectUnknown(item)
		}
	case map[string]any:
		_, isOpen := value["x-kubernetes-preserve-unknown-fields"]
		if _, isObject := value["properties"].(map[string]any); isObject && !isOpen && value["type"] == "object" {
			value["additionalProperties"] = false
		}
		for key, item := range value {
			if strings.HasPrefix(key, "x-kubernetes-") {
				delete(value, key)
				continue
			}
			rejectUnknown(item)
		}
	}
}
