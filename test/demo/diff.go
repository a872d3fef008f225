// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
	"sigs.k8s.io/yaml"
)

// showDiff shows how a pod template has changed, in YAML, with some lines of
// context.
func (d *demo) showDiff(before, after json.RawMessage, context int) error {
	var texts [2][]string
	for i, template := range []json.RawMessage{before, after} {
		text, err := yaml.JSONToYAML(template)
		if err != nil {
			return fmt.Errorf("showing a pod template: %w", err)
		}
		texts[i] = slices.Collect(strings.Lines(string(text)))
	}
	diff, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
		A: texts[0], FromFile: "spec.template before",
		B: texts[1], ToFile: "spec.template after",
		Context: context,
	})
	if err != nil {
		return fmt.Errorf("comparing pod templates: %w", err)
	}
	for line := range strings.Lines(diff) {
		d.line("  %s", d.paint(diffColor(line), strings.TrimRight(line, "\n")))
	}
	return nil
}

func diffColor(line string) color {
	switch line[0] {
	case '+':
		return green
	case '-':
		return red
	default:
		return faint
	}
}
