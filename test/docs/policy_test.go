// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/policy"
	"kontroloop.ai/vector-sidecar-operator/test/fields"
)

func TestDocs_ContainGeneratedPolicyTable(t *testing.T) {
	isGenerated(t, filepath.Join(root, "docs", "how-to", "operate", "policy.md"), "fields", fieldsTable())
}

// row is a row of the table: fields that allow the same, and are checked by the same policy keys.
type row struct {
	cells  [2]string
	fields []string
}

func fieldsTable() string {
	var judged, rest []row
	all := fields.Below(reflect.TypeFor[corev1.PodTemplateSpec](), func(name string) bool {
		// Init containers have the fields of containers.
		return name != "PodSpec.initContainers" && !policy.LineFor(name).NotAllowed()
	})
	for _, field := range all {
		line, path := policy.LineFor(field.Name), one(field.Paths)
		if line.Grant == policy.Nothing || line.Grant == policy.Refinement {
			folder, name := path[:max(strings.LastIndex(path, "."), 0)], path[strings.LastIndex(path, ".")+1:]
			rest = add(rest, [2]string{folder, line.Grant}, name)
			continue
		}
		judged = add(judged, [2]string{line.Grant, keys(line)}, path)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "A pod template has %d fields.\n\n| Field | What it lets in | Judged by |\n|---|---|---|\n", len(all))
	for _, row := range judged {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", strings.Join(row.fields, "` `"), row.cells[0], row.cells[1])
	}
	b.WriteString("\nThe others:\n\n| Below | Fields | What they let in |\n|---|---|---|\n")
	for _, row := range rest {
		fmt.Fprintf(&b, "| %s | `%s` | %s |\n", code(row.cells[0]), strings.Join(row.fields, "` `"), row.cells[1])
	}
	return b.String()
}

// add adds a field to the row with the same cells.
func add(rows []row, cells [2]string, field string) []row {
	at := slices.IndexFunc(rows, func(r row) bool { return r.cells == cells })
	if at < 0 {
		at, rows = len(rows), append(rows, row{cells: cells})
	}
	rows[at].fields = append(rows[at].fields, field)
	return rows
}

// keys returns the policy keys that check a field.
func keys(line *policy.Line) string {
	if line.NotAllowed() {
		return "no key: always rejected"
	}
	var all []string
	for _, key := range line.Keys {
		all = append(all, code(key))
		if key == "volumes.kinds" {
			all[len(all)-1] += ": " + code(line.Kind)
			if strings.HasPrefix(line.Field, "VolumeSource.") {
				all[len(all)-1] = code(key) + ": its name"
			}
		}
	}
	return strings.Join(all, ", ")
}

func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}

// one writes paths with a common prefix and suffix as one path.
func one(paths []string) string {
	var steps [][]string
	for _, path := range paths {
		steps = append(steps, strings.Split(strings.TrimPrefix(path, "spec."), "."))
	}
	if len(steps) == 1 {
		return strings.Join(steps[0], ".")
	}
	var head, tail []string
	isShared := func(at func([]string) string) bool {
		return !slices.ContainsFunc(steps, func(s []string) bool { return len(s) < 2 || at(s) != at(steps[0]) })
	}
	first := func(s []string) string { return s[0] }
	last := func(s []string) string { return s[len(s)-1] }
	for isShared(first) {
		head = append(head, steps[0][0])
		for i := range steps {
			steps[i] = steps[i][1:]
		}
	}
	for isShared(last) {
		tail = append([]string{last(steps[0])}, tail...)
		for i := range steps {
			steps[i] = steps[i][:len(steps[i])-1]
		}
	}
	var between []string
	for _, s := range steps {
		between = append(between, strings.Join(s, "."))
	}
	return strings.Join(slices.Concat(head, []string{"{" + strings.Join(between, ",") + "}"}, tail), ".")
}
