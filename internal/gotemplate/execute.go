// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package gotemplate

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// run is one execution of a template of a set, with its meter.
type run struct {
	meter *meter
	set   *Set
	depth int
}

// Execute renders the template with a name. Its data is the root that templates see: .Values, .Release, .Chart,
// .Capabilities, .Files, and other values of the caller. If .Template is missing, Execute adds it. Maps and
// lists in the data are copied first, so that templates cannot change them. Values of other types are shared,
// and templates can call only their methods in Options.Methods.
//
// The error is an [*Error]. If the context is done, it wraps the error of the context. If the timeout is
// exceeded, it wraps context.DeadlineExceeded.
func (s *Set) Execute(ctx context.Context, name string, data map[string]any) (string, error) {
	text, _, err := s.ExecuteWatched(ctx, name, data)
	return text, err
}

// Reads are the recorded reads of each value in Options.Watch, in the order of that option.
type Reads [][]tree.Read

// ExecuteWatched does the same as Execute, and also returns the reads of the values in Options.Watch. For other
// data with the same values at these reads and outside of Options.Watch, the result is the same. An exception
// is data of another size, which may exceed a bound.
func (s *Set) ExecuteWatched(ctx context.Context, name string, data map[string]any) (text string, reads Reads, err error) {
	template := s.scope.definitions[name]
	if template == nil {
		message, hint := unknownTemplate(name, s.scope)
		return "", make(Reads, len(s.watch)), &Error{Template: name, Message: message, Hint: hint}
	}
	runtime.LockOSThread() // For the clock.
	defer runtime.UnlockOSThread()
	r := &run{set: s, meter: newMeter(ctx, s.budget)}
	text, err = r.execute(template, data)
	return text, r.recordedReads(err), err
}

// execute renders a template with the caller's data. Its errors are *Error.
func (r *run) execute(template *definition, data map[string]any) (text string, err error) {
	// A panic that the guards did not prevent becomes the template's error and does not end the process.
	defer func() {
		if cause := recover(); cause != nil {
			text, err = "", template.source.errorAt(0, fmt.Sprintf("rendering stopped unexpectedly: %v", cause))
			r.meter.watch.isAll = true
		}
	}()
	root, err := r.rootData(template, data)
	if err != nil {
		r.meter.watch.isAll = true
		return "", template.source.explain(template.name, nil, err)
	}
	return r.render(r.set.scope, template, root)
}

// recordedReads returns the reads of the watched values in an execution. The argument is the error of the execution, if
// any.
func (r *run) recordedReads(err error) Reads {
	var located *Error
	budget := ""
	if errors.As(err, &located) {
		budget = located.Budget
	}
	return r.meter.watch.recordedReads(len(r.set.watch), budget)
}

// rootData returns a copy of the caller's data with .Template, and starts to watch it.
func (r *run) rootData(template *definition, data map[string]any) (map[string]any, error) {
	if err := r.meter.checkContext(); err != nil {
		return nil, err
	}
	copied := make(map[string]any, len(data)+1)
	for key, value := range data {
		// Files are read-only and may be large.
		if _, isFiles := value.(Files); !isFiles {
			if err := guardDeep(r.meter, []any{value}); err != nil {
				return nil, fmt.Errorf("copying .%s: %w", shorten(key), err)
			}
		}
		copied[key] = copyValue(value)
	}
	if copied["Template"] == nil {
		copied["Template"] = templateValues(template.source.file)
	}
	r.meter.watch.start(copied, r.set.watch)
	return copied, nil
}

// templateValues returns the value of .Template as Helm sets it.
func templateValues(file string) map[string]any {
	base := file
	if i := strings.Index(file, "templates/"); i >= 0 {
		base = file[:i+len("templates")]
	}
	return map[string]any{"Name": file, "BasePath": base}
}

// render executes one definition and returns its output.
func (r *run) render(visible *scope, template *definition, dot any) (string, error) {
	f := frame{run: r, meter: r.meter, scope: visible, definition: template, output: &strings.Builder{}}
	f.pushVariable("$", dot)
	if _, err := f.executeList(dot, template.root); err != nil {
		return "", err
	}
	return f.output.String(), nil
}

// enterCall increments the nesting depth of include, template and tpl. It returns an error if the bound is
// exceeded.
func (r *run) enterCall() error {
	if r.depth >= r.meter.budget.Depth {
		return overBudget(boundDepth, "include, template and tpl are nested more than %d deep", r.meter.budget.Depth)
	}
	r.depth++
	return r.meter.addSteps(1)
}

func (r *run) exitCall() { r.depth-- }
