// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"strings"
)

// changeKinds has Artifact Hub's kind of the changes in each section of a release in CHANGELOG.md.
// Other sections, such as requirements, do not list changes.
var changeKinds = map[string]string{
	"Changes that roll workloads": "changed",
	"Added":                       "added",
	"Changed":                     "changed",
	"Deprecated":                  "deprecated",
	"Removed":                     "removed",
	"Fixed":                       "fixed",
	"Security":                    "security",
}

// releaseChanges returns the changes of the first release in the changelog as a YAML list. The bold
// start of an entry describes the change.
func releaseChanges(changelog string) string {
	var changes strings.Builder
	kind, releases := "", 0
	for line := range strings.Lines(changelog) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "## ") {
			releases++
		}
		if section, ok := strings.CutPrefix(line, "### "); ok {
			kind = changeKinds[section]
		}
		_, entry, _ := strings.Cut(line, "- **")
		description, _, isTitled := strings.Cut(entry, "**")
		if releases == 1 && kind != "" && strings.HasPrefix(line, "- **") && isTitled {
			fmt.Fprintf(&changes, "- kind: %s\n  description: %s\n", kind, strings.TrimSuffix(description, "."))
		}
	}
	return changes.String()
}

const changesKey = "  artifacthub.io/changes: |\n"

// withChanges returns Chart.yaml with these changes in the annotation of Artifact Hub.
func withChanges(chart []byte, changes string) ([]byte, error) {
	before, after, ok := strings.Cut(string(chart), changesKey)
	if !ok {
		return nil, errors.New("the annotation artifacthub.io/changes is missing")
	}
	for strings.HasPrefix(after, "    ") {
		_, after, _ = strings.Cut(after, "\n")
	}
	var block strings.Builder
	for line := range strings.Lines(changes) {
		block.WriteString("    " + line)
	}
	return []byte(before + changesKey + block.String() + after), nil
}
