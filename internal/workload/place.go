// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"maps"
	"slices"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// All other code expects the pod template at spec.template, where most kinds have it. The functions in this
// file move the template from spec.template to its path in a kind, and back.

// templatePath is the path at which all other code expects the pod template.
var templatePath = []string{"spec", "template"}

// Schema returns an object with the merge keys of a workload that has its pod template at spec.template.
func Schema() Object { return deployments.New() }

// MergeKeys returns an object with the merge keys of the kind. Custom resources do not define merge keys, so
// the result for them is Schema.
func (k *Kind) MergeKeys() Object {
	if k.Traits.AtomicLists {
		return Schema()
	}
	return k.New()
}

// MoveTemplate returns a copy of an apply or patch body in which the pod template is at its path in the kind
// instead of spec.template. It does not change its argument.
func (k *Kind) MoveTemplate(body map[string]any) map[string]any {
	template, isThere := tree.MapAt(body, "spec")["template"]
	if !isThere || slices.Equal(k.Template, templatePath) {
		return body
	}
	return moveValue(body, template, k.Template)
}

// moveValue returns a copy of a tree in which the first key of a path contains only the given value, at that path.
func moveValue(source map[string]any, value any, path []string) map[string]any {
	moved := maps.Clone(source)
	for i := len(path) - 1; i > 0; i-- {
		value = map[string]any{path[i]: value}
	}
	moved[path[0]] = value
	return moved
}

// fieldPaths are the paths of the pod template in managed fields, for the kinds that do not have the template
// at spec.template.
var fieldPaths = [][]string{fieldKeys(cronJobs.Template)}

// fieldKeys returns a path in the notation of managed fields, such as f:spec for spec.
func fieldKeys(path []string) []string {
	fields := make([]string, len(path))
	for i := range path {
		fields[i] = "f:" + path[i]
	}
	return fields
}

// liftTemplate returns managed fields with the fields of the pod template moved to spec.template. It also
// returns their original path, or nil if they already are at spec.template.
func liftTemplate(fields map[string]any) (atTemplate map[string]any, path []string) {
	for _, path := range fieldPaths {
		if template := tree.MapAt(fields, path...); template != nil {
			return moveValue(fields, template, fieldKeys(templatePath)), path
		}
	}
	return fields, nil
}

// lowerTemplate reverses liftTemplate.
func lowerTemplate(fields map[string]any, path []string) map[string]any {
	template, isThere := tree.MapAt(fields, "f:spec")["f:template"]
	if path == nil || !isThere {
		return fields
	}
	return moveValue(fields, template, path)
}

// NormalizeFieldPath converts the path of a field in a message of the API server to the path in other code. The API
// server's path has the pod template at its path in the kind, and the result has it at spec.template.
func (k *Kind) NormalizeFieldPath(path string) string {
	suffix, isBelow := strings.CutPrefix(path, "."+strings.Join(k.Template, "."))
	if !isBelow {
		return path
	}
	return "." + strings.Join(templatePath, ".") + suffix
}
