// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
)

// Definition is what the API server holds a VectorSidecar against: schema and rules of its
// CustomResourceDefinition.
type Definition struct {
	schema    *schema.Structural
	validator validation.SchemaValidator
	rules     *cel.Validator
}

// ParseDefinition reads a CustomResourceDefinition with one version.
func ParseDefinition(text []byte) (*Definition, error) {
	var definition apiextensionsv1.CustomResourceDefinition
	read, err := bounded.Object().ReadDocument(text)
	if err != nil {
		return nil, fmt.Errorf("reading the CustomResourceDefinition: %w", err)
	}
	if err := read.Decode(&definition); err != nil {
		return nil, fmt.Errorf("reading the CustomResourceDefinition: %w", err)
	}
	if len(definition.Spec.Versions) != 1 {
		return nil, fmt.Errorf("reading the CustomResourceDefinition: it has %d versions", len(definition.Spec.Versions))
	}
	var given apiextensions.CustomResourceValidation
	if err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(definition.Spec.Versions[0].Schema, &given, nil); err != nil {
		return nil, fmt.Errorf("reading the CustomResourceDefinition: %w", err)
	}
	structural, err := schema.NewStructural(given.OpenAPIV3Schema)
	if err != nil {
		return nil, fmt.Errorf("reading the CustomResourceDefinition: %w", err)
	}
	validator, _, err := validation.NewSchemaValidator(given.OpenAPIV3Schema)
	if err != nil {
		return nil, fmt.Errorf("reading the CustomResourceDefinition: %w", err)
	}
	return &Definition{schema: structural, validator: validator, rules: cel.NewValidator(structural, true, celconfig.PerCallLimit)}, nil
}

// refuses tells what the API server would refuse of an object. One that is not YAML has no
// findings here.
func (d *Definition) refuses(ctx context.Context, text []byte) field.ErrorList {
	var object map[string]any
	read, err := bounded.Object().ReadDocument(text)
	if err != nil {
		return nil
	}
	if _, err := read.DecodeStrictly(&object); err != nil {
		return nil
	}
	defaulting.Default(object, d.schema)
	found := validation.ValidateCustomResource(nil, object, d.validator)
	if len(found) > 0 {
		return found // The rules are for what has the form.
	}
	found, _ = d.rules.Validate(ctx, nil, d.schema, object, nil, celconfig.RuntimeCELCostBudget)
	return found
}

// refusals are the findings of what the API server would refuse of a sidecar's object, but for
// what was found already: at the same place, or in the same words.
func (o *objects) refusals(ctx context.Context, document *source.Document, found []Finding) []Finding {
	definition, err := o.linter.definitionOf(document.Kind)
	if definition == nil || err != nil {
		return nil // What is built in can be read.
	}
	places := placesOf(document.Text, document.Line)
	var all []Finding
	for _, refused := range definition.refuses(ctx, document.Text) {
		at := places.of(stepsOf(refused.Field)...)
		isKnown := func(f Finding) bool {
			return f.Line == at.line && f.Column == at.column || refused.Detail != "" && strings.Contains(f.Message, refused.Detail)
		}
		if slices.ContainsFunc(found, isKnown) || slices.ContainsFunc(all, isKnown) {
			continue
		}
		all = append(all, newFinding(refusedByAPI, document.Source, refused.ErrorBody()).at(at, refused.Field))
	}
	return all
}
