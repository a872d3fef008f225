// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"maps"
	"slices"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// All other code handles a workload with its pod template at spec.template, as in most kinds. This file moves
// the template to its path in a kind, and back.

// templatePath is the path of the pod template in all other code.
var templatePath = []string{"spec", "template"}

// Schema returns an object with the merge keys of such a workload.
func Schema() Object { return deployments.New() }

// MergeKeys returns an object with the merge keys of a kind. A custom resource does not define merge keys.
func (k *Kind) MergeKeys() Object {
	if k.Traits.AtomicLists {
		return Schema()
	}
	return k.New()
}

// MoveTemplate moves the pod template of a body from spec.template to its path in the kind. The body is an apply or a
// patch. Place returns a copy and does not change the body.
func (k *Kind) MoveTemplate(body map[string]any) map[string]any {
	template, isThere := tree.MapAt(body, "spec")["template"]
	if !isThere || slices.Equal(k.Template, templatePath) {
		return body
	}
	return move(body, template, k.Template)
}

// move returns a copy of a tree with a new spec, which contains only a value at a path.
func move(source map[string]any, value any, path []string) map[string]any {
	moved := maps.Clone(source)
	for i := len(path) - 1; i > 0; i-- {
		value = map[string]any{path[i]: value}
	}
	moved[path[0]] = value
	return moved
}

// fieldPaths are the paths to the pod template in managed fields, for kinds with another path than
// spec.template.
var fieldPaths = [][]string{asFields(cronJobs.Template)}

func asFields(path []string) []string {
	fields := make([]string, len(path))
	for i := range path {
		fields[i] = "f:" + path[i]
	}
	return fields
}

// liftTemplate returns managed fields with the fields of the pod template moved to spec.template, and their original
// path. The path is nil for a workload that already has them there.
func liftTemplate(fields map[string]any) (atTemplate map[string]any, path []string) {
	for _, path := range fieldPaths {
		if template := tree.MapAt(fields, path...); template != nil {
			return move(fields, template, asFields(templatePath)), path
		}
	}
	return fields, nil
}

// lowerTemplate reverses lifted.
func lowerTemplate(fields map[string]any, path []string) map[string]any {
	template, isThere := tree.MapAt(fields, "f:spec")["f:template"]
	if path == nil || !isThere {
		return fields
	}
	return move(fields, template, path)
}

// Field returns the path of a field in the API server's notation, with the pod template at spec.template.
func (k *Kind) Field(path string) string {
	suffix, isBelow := strings.CutPrefix(path, "."+strings.Join(k.Template, "."))
	if !isBelow {
		return path
	}
	return "." + strings.Join(templatePath, ".") + suffix
}
