// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package definition decodes and validates custom objects by their CustomResourceDefinition, with the
// code of the API server. It takes objects from files, and returns them as kubectl create would store
// them, or the reasons why the API server would reject them. It reads no cluster.
package definition

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
)

// Definition is the schema and the rules of a CustomResourceDefinition. It is safe for concurrent use.
type Definition struct {
	schema    *schema.Structural
	validator validation.SchemaValidator
	// rules returns the CEL rules, which take long to compile.
	rules func() *cel.Validator
}

// Parse reads a CustomResourceDefinition with one version.
func Parse(text []byte) (*Definition, error) {
	parsed, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("reading the CustomResourceDefinition: %w", err)
	}
	return parsed, nil
}

// parse does the same as Parse, with errors that do not name the CustomResourceDefinition.
func parse(text []byte) (*Definition, error) {
	var resource apiextensionsv1.CustomResourceDefinition
	document, err := bounded.Object().ReadDocument(text)
	if err != nil {
		return nil, err
	}
	if err := document.Decode(&resource); err != nil {
		return nil, err
	}
	if n := len(resource.Spec.Versions); n != 1 {
		return nil, fmt.Errorf("the CustomResourceDefinition has %d versions; expected 1", n)
	}
	var internal apiextensions.CustomResourceValidation
	if err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(resource.Spec.Versions[0].Schema, &internal, nil); err != nil {
		return nil, err
	}
	structural, err := schema.NewStructural(internal.OpenAPIV3Schema)
	if err != nil {
		return nil, err
	}
	validator, _, err := validation.NewSchemaValidator(internal.OpenAPIV3Schema)
	if err != nil {
		return nil, err
	}
	rules := sync.OnceValue(func() *cel.Validator { return cel.NewValidator(structural, true, celconfig.PerCallLimit) })
	return &Definition{schema: structural, validator: validator, rules: rules}, nil
}

// Complete changes a decoded object to the form that the API server would store at creation: without unknown fields,
// without null values that the schema does not allow, and with defaults. It returns the paths of the unknown fields.
func (d *Definition) Complete(object map[string]any) (unknownPaths []string) {
	unknownPaths = pruning.PruneWithOptions(object, d.schema, true, schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	defaulting.PruneNonNullableNullsWithoutDefaults(object, d.schema)
	defaulting.Default(object, d.schema)
	return unknownPaths
}

// Rejections are the reasons why the API server would reject an object.
type Rejections struct {
	// Create lists the rejections of kubectl create.
	Create field.ErrorList
	// Apply lists the additional rejections of kubectl apply --server-side.
	Apply field.ErrorList
}

// CreateText describes the rejections of kubectl create, "" for none.
func (r Rejections) CreateText() string {
	return formatErrors("the API server would reject the object", r.Create)
}

// ApplyText describes the rejections that only kubectl apply --server-side has, "" for none.
func (r Rejections) ApplyText() string {
	return formatErrors("kubectl apply --server-side would be rejected, although kubectl create is not", r.Apply)
}

// formatErrors joins rejections to a text that starts with their effect, or returns "" for none.
func formatErrors(effect string, rejections field.ErrorList) string {
	if len(rejections) == 0 {
		return ""
	}
	var texts []string
	for _, rejection := range rejections {
		texts = append(texts, rejection.Error())
	}
	return effect + ": " + strings.Join(texts, "; ")
}

// Validate returns the reasons why the API server would reject an object, a YAML or JSON text. Unknown
// and duplicate fields are not among them, and a text that cannot be decoded has none.
func (d *Definition) Validate(ctx context.Context, text []byte) Rejections {
	document, _, err := bounded.Object().ReadLastKeys(text)
	if err != nil {
		return Rejections{}
	}
	var object map[string]any
	if _, err := document.DecodeStrictly(&object); err != nil || object == nil {
		return Rejections{}
	}
	applied := runtime.DeepCopyJSON(object)
	d.Complete(object)
	rejections := Rejections{Create: d.validate(object), Apply: d.validateApplied(applied)}
	if len(rejections.Create) == 0 { // The rules assume that the object fits its schema.
		rejections.Create, _ = d.rules().Validate(ctx, nil, d.schema, object, nil, celconfig.RuntimeCELCostBudget)
	}
	isOfCreate := func(e *field.Error) bool {
		return slices.ContainsFunc(rejections.Create, func(c *field.Error) bool { return c.Field == e.Field && c.Type == e.Type })
	}
	rejections.Apply = slices.DeleteFunc(rejections.Apply, isOfCreate)
	for _, list := range []field.ErrorList{rejections.Create, rejections.Apply} { // The validator's order is random.
		slices.SortFunc(list, func(a, b *field.Error) int { return strings.Compare(a.Error(), b.Error()) })
	}
	return rejections
}

// validate returns the violations of the schema in an object, without those of the CEL rules.
func (d *Definition) validate(object map[string]any) field.ErrorList {
	return append(validation.ValidateCustomResource(nil, object, d.validator), listtype.ValidateListSetsAndMaps(nil, d.schema, object)...)
}

// validateApplied returns the rejections of a server-side apply of an object, in which null values stay.
func (d *Definition) validateApplied(object map[string]any) field.ErrorList {
	defaulting.Default(object, d.schema)
	rejections := d.validate(object)
	metadata, _ := object["metadata"].(map[string]any)
	if metadata["managedFields"] != nil {
		rejections = append(rejections, field.Forbidden(field.NewPath("metadata", "managedFields"), "must not be set"))
	}
	return rejections
}

// index matches the index of a list item in a path, such as [2].
var index = regexp.MustCompile(`\[(\d+)\]`)

// Nearest returns the name of the field in the schema that an unknown field most likely means, or "" if no name is
// similar. The path is a result of Complete.
func (d *Definition) Nearest(path string) string {
	steps := strings.Split(index.ReplaceAllString(path, ".$1"), ".")
	node := d.schema
	for _, step := range steps[:len(steps)-1] {
		property, isProperty := node.Properties[step]
		_, notIndex := strconv.Atoi(step)
		switch {
		case isProperty:
			node = &property
		case node.Items != nil && notIndex == nil:
			node = node.Items
		case node.AdditionalProperties != nil && node.AdditionalProperties.Structural != nil:
			node = node.AdditionalProperties.Structural
		default:
			return ""
		}
	}
	return humanize.Nearest(steps[len(steps)-1], slices.Collect(maps.Keys(node.Properties)))
}
