// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"fmt"
	"strconv"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
	vectoroptions "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/options"
)

// jsonSchema is a JSON schema, or a part of one.
type jsonSchema = map[string]any

// optionSchema creates JSON schemas for the options of one release of Vector. No option is required, because another
// layer of values may set it. Every option may be null, because null removes the value of another layer.
type optionSchema struct {
	minor int
	// definitions are the definitions of the schema by name. Equal objects share one definition.
	definitions jsonSchema
	names       map[*vectoroptions.Object]string
}

// withOptions returns the schema of values with the options of a Vector release at all places that contain Vector
// configuration. minor is the minor version of the release.
func withOptions(schema []byte, minor int) ([]byte, error) {
	var root jsonSchema
	if err := bounded.Schemas().DecodeJSON(schema, &root); err != nil {
		return nil, fmt.Errorf("%s: %w", schemaFile, err)
	}
	o := &optionSchema{minor: minor, definitions: jsonSchema{}, names: map[*vectoroptions.Object]string{}}
	sections := jsonSchema{}
	for _, section := range []string{"sources", "transforms", "sinks"} {
		o.componentSchema(section)
		sections[section] = jsonSchema{"type": []any{"object", "null"}, "additionalProperties": schemaReference(section)}
	}
	globals := vectoroptions.Globals()
	for i := range globals.Options {
		option := &globals.Options[i]
		if _, isSection := sections[option.Name]; !isSection {
			sections[option.Name] = o.optionValueSchema(option)
		}
	}
	sidecar := tree.MapAt(root, "properties", "sidecar", "properties")
	sinks, raw := tree.Map(sidecar["sinks"]), tree.MapAt(sidecar, "config", "properties", "raw")
	if sinks == nil || raw == nil {
		return nil, fmt.Errorf("the schema %s has no sidecar.sinks or sidecar.config.raw, to which the options of Vector are added", schemaFile)
	}
	sinks["additionalProperties"] = jsonSchema{"allOf": []any{sinks["additionalProperties"], schemaReference("sinks")}}
	raw["properties"] = sections
	root["definitions"] = o.definitions
	return json.MarshalIndent(root, "", "  ")
}

// schemaReference returns a JSON schema that refers to a definition in the same document.
func schemaReference(name string) jsonSchema { return jsonSchema{"$ref": "#/definitions/" + name} }

// componentSchema adds the definition of the components in a section. The type of a component determines its options.
func (o *optionSchema) componentSchema(section string) {
	types := []any{}
	var cases []any
	for _, name := range vectoroptions.Names(o.minor, section) {
		object := vectoroptions.Component(o.minor, section, name)
		defined := section + "." + name
		o.definitions[defined] = o.objectBody(object, "type", "inputs")
		types = append(types, name)
		cases = append(cases, jsonSchema{
			"if":   jsonSchema{"required": []any{"type"}, "properties": jsonSchema{"type": jsonSchema{"const": name}}},
			"then": schemaReference(defined),
		})
	}
	o.definitions[section] = jsonSchema{
		"type": []any{"object", "null"}, "properties": jsonSchema{"type": jsonSchema{"anyOf": []any{jsonSchema{"enum": types}, placeholderSchema()}}}, "allOf": cases,
	}
}

// objectSchema returns the definition of a map of options.
func (o *optionSchema) objectSchema(object *vectoroptions.Object) jsonSchema {
	name, isDefined := o.names[object]
	if !isDefined {
		name = "object." + strconv.Itoa(len(o.names)+1)
		o.names[object] = name
		o.definitions[name] = o.objectBody(object)
	}
	return schemaReference(name)
}

// objectBody returns the schema of an object with its options and with additional properties.
func (o *optionSchema) objectBody(object *vectoroptions.Object, extraNames ...string) jsonSchema {
	properties := jsonSchema{}
	var additional any = !object.Denies
	for i := range object.Options {
		option := &object.Options[i]
		if option.Name == "*" {
			additional = o.optionValueSchema(option)
			continue
		}
		properties[option.Name] = o.optionValueSchema(option)
	}
	for _, name := range extraNames {
		if _, isThere := properties[name]; !isThere {
			properties[name] = true
		}
	}
	return jsonSchema{"type": []any{"object", "null"}, "properties": properties, "additionalProperties": additional}
}

// optionValueSchema returns the schema of the value of an option.
func (o *optionSchema) optionValueSchema(option *vectoroptions.Option) any {
	if len(option.Forms) == 0 {
		return true
	}
	schema := jsonSchema{"anyOf": o.formSchemas(option.Forms)}
	if option.Deprecated {
		schema["deprecated"] = true
	}
	if text := option.Forms[0].Default; text != "" && json.Valid([]byte(text)) {
		schema["default"] = json.RawMessage(text)
	}
	return schema
}

// formSchemas returns the schemas of a value in any of its forms, and of a string that Vector replaces by a value.
func (o *optionSchema) formSchemas(forms []vectoroptions.Form) []any {
	alternatives := []any{jsonSchema{"type": "null"}}
	isText := false
	for i := range forms {
		form := &forms[i]
		isText = isText || form.Kind == "string" && len(form.Values()) == 0
		alternatives = append(alternatives, o.formSchema(form))
	}
	if !isText {
		alternatives = append(alternatives, placeholderSchema())
	}
	return alternatives
}

// placeholderSchema returns the schema of a string that contains a variable, a secret or a field of the event.
func placeholderSchema() jsonSchema {
	return jsonSchema{"type": "string", "pattern": `\$|SECRET\[|\{\{`}
}

// formSchema returns the schema of one form of a value.
func (o *optionSchema) formSchema(form *vectoroptions.Form) any {
	switch form.Kind {
	case "string":
		if values := form.Values(); len(values) > 0 {
			return jsonSchema{"enum": values}
		}
		return jsonSchema{"type": "string"}
	case "ascii_char":
		return jsonSchema{"type": "string", "maxLength": 1}
	case "bool":
		return jsonSchema{"type": "boolean"}
	case "float":
		return jsonSchema{"type": "number"}
	case "int":
		return jsonSchema{"type": "integer"}
	case "uint":
		return jsonSchema{"type": "integer", "minimum": 0}
	case "condition":
		return jsonSchema{"type": []any{"string", "object"}}
	case "array":
		if items := form.Items(); len(items) > 0 {
			return jsonSchema{"type": "array", "items": jsonSchema{"anyOf": o.formSchemas(items)}}
		}
		return jsonSchema{"type": "array"}
	case "object":
		if object := form.Object(); object != nil {
			return o.objectSchema(object)
		}
		return jsonSchema{"type": "object"}
	}
	return true
}
