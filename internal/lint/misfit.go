// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"errors"
	"reflect"
	"slices"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
)

// unknownFields returns the findings if the error is about unknown fields, else nil.
func unknownFields(found []Finding, err error) []Finding {
	if len(unknownFieldsIn(err)) == 0 {
		return nil
	}
	return found
}

// withoutGoErrors removes findings of a Go decoder if the API server reports more about the same place. A finding
// without a path is removed if the API server rejects any field.
func withoutGoErrors(found, rejected []Finding) []Finding {
	return slices.DeleteFunc(found, func(f Finding) bool {
		return f.Code == misfit && slices.ContainsFunc(rejected, func(r Finding) bool {
			return r.Code == refusedByAPI && (f.Path == "" || r.Line == f.Line && r.Column == f.Column)
		})
	})
}

// beyond returns the finding for a text that exceeds an input limit, nil for another error. The line is the line of
// the file where the text starts.
func beyond(file string, first int, err error) []Finding {
	var refused *bounded.Error
	if !errors.As(err, &refused) {
		return nil
	}
	at := place{line: first}
	if refused.Line > 0 {
		at = place{line: first - 1 + refused.Line, column: refused.Column}
	}
	finding := newFinding(tooLarge, file, refused.Message)
	finding.Help = refused.Help
	return []Finding{finding.at(at, "")}
}

// misfits returns the findings for a document that cannot be read.
func misfits(document *source.Document, err error) []Finding {
	if refused := beyond(document.Source, document.Line, err); refused != nil {
		return refused
	}
	unknown := unknownFieldsIn(err)
	var wrong *bounded.WrongTypeError
	if len(unknown) == 0 && errors.As(err, &wrong) && wrong.Field != "" {
		finding := newFinding(misfit, document.Source, "got "+wrong.Value+", want "+typeNameOf(wrong.Type))
		return []Finding{finding.at(placesOf(document.Text, document.Line).of(stepsOf(wrong.Field)...), wrong.Field)}
	}
	if len(unknown) == 0 {
		code, at := misfit, place{line: document.Line}
		if line := lineOf(err); line > 0 {
			code, at.line = unreadable, document.Line-1+line
		}
		return []Finding{newFinding(code, document.Source, err.Error()).at(at, "")}
	}
	places := placesOf(document.Text, document.Line)
	var findings []Finding
	for _, one := range unknown {
		path := stepsOf(one.Path)
		finding := newFinding(misfit, document.Source, document.Kind+" has no such field")
		if one.Nearest != "" {
			finding.Message += "; did you mean " + one.Nearest + "?"
		}
		findings = append(findings, finding.at(places.of(path...), strings.Join(path, ".")))
	}
	return findings
}

// typeNameOf returns the JSON name of a type.
func typeNameOf(of reflect.Type) string {
	switch of.Kind() {
	case reflect.Pointer:
		return typeNameOf(of.Elem())
	case reflect.Struct, reflect.Map:
		return "object"
	case reflect.Slice, reflect.Array:
		return "array"
	case reflect.Bool:
		return "boolean"
	case reflect.String:
		return "string"
	}
	return "number"
}
