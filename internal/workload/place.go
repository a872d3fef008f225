// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"maps"
	"slices"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// Everything above this file knows a workload with its pod template at spec.template, as
// most kinds have it. Here it is put where a kind has it, and back.

// templatePath is where everybody looks for the pod template.
var templatePath = []string{"spec", "template"}

// Schema returns an object with the merge keys of such a workload.
func Schema() Object { return deployments.New() }

// MergeKeys returns an object with the merge keys of a kind. A custom resource has none of its own.
func (k *Kind) MergeKeys() Object {
	if k.Traits.AtomicLists {
		return Schema()
	}
	return k.New()
}

// Place returns a body, an apply or a patch with the pod template at spec.template, with
// it where the kind has it. The body is not changed.
func (k *Kind) Place(body map[string]any) map[string]any {
	template, isThere := tree.At(body, "spec")["template"]
	if !isThere || slices.Equal(k.Template, templatePath) {
		return body
	}
	return move(body, template, k.Template)
}

// move returns a copy of a tree whose spec is a value at a path, and nothing else.
func move(of map[string]any, value any, path []string) map[string]any {
	moved := maps.Clone(of)
	for i := len(path) - 1; i > 0; i-- {
		value = map[string]any{path[i]: value}
	}
	moved[path[0]] = value
	return moved
}

// fieldPaths are the paths to the pod template in managed fields, of the kinds that have
// it elsewhere than at spec.template.
var fieldPaths = [][]string{asFields(cronJobs.Template)}

func asFields(path []string) []string {
	fields := make([]string, len(path))
	for i := range path {
		fields[i] = "f:" + path[i]
	}
	return fields
}

// lifted returns managed fields with those of the pod template at spec.template, and the
// path that they were at; nil for a workload that has them there.
func lifted(fields map[string]any) (atTemplate map[string]any, path []string) {
	for _, path := range fieldPaths {
		if template := tree.At(fields, path...); template != nil {
			return move(fields, template, asFields(templatePath)), path
		}
	}
	return fields, nil
}

// lowered is the inverse of lifted.
func lowered(fields map[string]any, path []string) map[string]any {
	template, isThere := tree.At(fields, "f:spec")["f:template"]
	if path == nil || !isThere {
		return fields
	}
	return move(fields, template, path)
}

// Field returns the path of a field, as the API server writes it, with the pod template at
// spec.template.
func (k *Kind) Field(path string) string {
	below, isBelow := strings.CutPrefix(path, "."+strings.Join(k.Template, "."))
	if !isBelow {
		return path
	}
	return "." + strings.Join(templatePath, ".") + below
}
