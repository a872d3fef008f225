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

// unknownFields returns the findings if their error is about unknown fields, and nil otherwise.
func unknownFields(findings []Finding, err error) []Finding {
	if len(unknownFieldsIn(err)) == 0 {
		return nil
	}
	return findings
}

// withoutGoErrors removes the findings of a Go decoder that the API server's findings make redundant, because
// these are at the same position and more precise. A finding without a path is redundant if the API server
// rejects any field.
func withoutGoErrors(findings, rejected []Finding) []Finding {
	return slices.DeleteFunc(findings, func(f Finding) bool {
		return f.Code == misfit && slices.ContainsFunc(rejected, func(r Finding) bool {
			return r.Code == refusedByAPI && (f.Path == "" || r.Line == f.Line && r.Column == f.Column)
		})
	})
}

// limitFindings returns the finding for a text that exceeds an input limit, or nil for other errors. firstLine is the
// line of the file on which the text starts.
func limitFindings(file string, firstLine int, err error) []Finding {
	var refused *bounded.Error
	if !errors.As(err, &refused) {
		return nil
	}
	pos := position{line: firstLine}
	if refused.Line > 0 {
		pos = position{line: firstLine - 1 + refused.Line, column: refused.Column}
	}
	finding := newFinding(tooLarge, file, refused.Message)
	finding.Help = refused.Help
	return []Finding{finding.withPosition(pos, "")}
}

// decodeFindings returns the findings for a document that cannot be decoded.
func decodeFindings(document *source.Document, err error) []Finding {
	if refused := limitFindings(document.Source, document.Line, err); refused != nil {
		return refused
	}
	fieldErrors := unknownFieldsIn(err)
	var wrong *bounded.WrongTypeError
	if len(fieldErrors) == 0 && errors.As(err, &wrong) && wrong.Field != "" {
		finding := newFinding(misfit, document.Source, "got "+wrong.Value+", want "+jsonTypeName(wrong.Type))
		return []Finding{finding.withPosition(newPositions(document.Text, document.Line).findKey(splitPath(wrong.Field)...), wrong.Field)}
	}
	if len(fieldErrors) == 0 {
		code, pos := misfit, position{line: document.Line}
		if line := errorLine(err); line > 0 {
			code, pos.line = unreadable, document.Line-1+line
		}
		return []Finding{newFinding(code, document.Source, err.Error()).withPosition(pos, "")}
	}
	positions := newPositions(document.Text, document.Line)
	var findings []Finding
	for _, fieldError := range fieldErrors {
		path := splitPath(fieldError.Path)
		finding := newFinding(misfit, document.Source, document.Kind+" has no such field")
		if fieldError.Nearest != "" {
			finding.Message += "; did you mean " + fieldError.Nearest + "?"
		}
		findings = append(findings, finding.withPosition(positions.findKey(path...), strings.Join(path, ".")))
	}
	return findings
}

// jsonTypeName returns the name of the JSON type for a Go type.
func jsonTypeName(goType reflect.Type) string {
	switch goType.Kind() {
	case reflect.Pointer:
		return jsonTypeName(goType.Elem())
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
