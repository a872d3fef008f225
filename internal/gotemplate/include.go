// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package gotemplate

import (
	"errors"
	"fmt"
)

// includeFunction implements the function include.
func includeFunction(f *frame, name string, dot any) (string, error) {
	return f.include(name, dot)
}

// include executes another template with a value as its root, and returns the output.
func (f *frame) include(name string, dot any) (string, error) {
	included := f.scope.findDefinition(name)
	if included == nil {
		message, hint := unknownTemplate(name, f.scope)
		return "", withHint(errors.New(message), hint)
	}
	calling := f.calling
	if err := f.run.enterCall(); err != nil {
		return "", err
	}
	defer f.run.exitCall()
	text, err := f.run.render(f.scope, included, dot)
	var located *Error
	if errors.As(err, &located) {
		located.addCaller(f.definition.source.errorAt(f.definition.source.nodeStart(calling), "").position())
	}
	return text, err
}

// textName is the file name in errors about a text of tpl. The position of the call replaces it before the
// error is returned.
const textName = "the argument of tpl"

// parsedText is a text of tpl after parsing.
type parsedText struct {
	main        *definition
	definitions map[string]*definition
}

// tplFunction implements the function tpl, which executes a text as a template. The text can call all templates
// that the caller can call, and the templates that it defines itself.
func tplFunction(f *frame, text string, dot any) (string, error) {
	parsed, err := f.parseText(text)
	if err != nil {
		return "", f.markTextError(err)
	}
	calling := f.calling
	if err := f.run.enterCall(); err != nil {
		return "", err
	}
	defer f.run.exitCall()
	visible := &scope{outer: f.scope, definitions: parsed.definitions}
	rendered, err := f.run.render(visible, parsed.main, dot)
	if err != nil {
		f.calling = calling
		return "", f.markTextError(err)
	}
	return rendered, nil
}

// parseText returns a text of tpl after parsing and checking. It uses the cache.
func (f *frame) parseText(text string) (*parsedText, error) {
	if cached := f.run.set.texts.get(text); cached != nil {
		return cached, nil
	}
	_, inActions := scanActions(text)
	if err := f.meter.chargeCopy(saturatingProduct(inActions, bytesPerAction)+2*len(text), saturatingProduct(inActions, 16)+len(text)); err != nil {
		return nil, err
	}
	definitions, err := parseSource(&source{file: textName, text: text})
	if err != nil {
		return nil, err
	}
	if findings := checkDefinitions(f.run.set.functions, nil, definitions); len(findings) > 0 {
		return nil, joinFindings(findings)
	}
	parsed := &parsedText{main: definitions[textName], definitions: definitions}
	f.run.set.texts.put(text, parsed)
	return parsed, nil
}

// markTextError moves an error in a text of tpl to the position of the call, because a user cannot open the text
// as a file.
func (f *frame) markTextError(err error) error {
	var inner *Error
	if !errors.As(err, &inner) {
		return err
	}
	if inner.Template != textName {
		inner.addCaller(f.definition.source.errorAt(f.definition.source.nodeStart(f.calling), "").position())
		return inner
	}
	outer := f.definition.source.errorAt(f.definition.source.nodeStart(f.calling), inner.Message)
	if f.definition.name != f.definition.source.file {
		outer.Define = f.definition.name
	}
	if !inner.inText {
		expression := ""
		if inner.Expression != "" {
			expression = fmt.Sprintf(" at <%s>", inner.Expression)
		}
		outer.Message = fmt.Sprintf("%s, line %d, column %d%s: %s", textName, inner.Line, inner.Column, expression, inner.Message)
	}
	outer.Expression, outer.inText = shorten(f.calling.String()), true
	outer.Hint, outer.Budget, outer.cause = inner.Hint, inner.Budget, inner
	outer.Values = inner.Values
	return outer
}
