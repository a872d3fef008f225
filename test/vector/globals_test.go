// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"slices"

	vectoroptions "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/options"
)

// apartFromOthers are global options that are not valid with components, or only with other options.
var apartFromOthers = []string{"provider", "tests", "enrichment_tables"}

// globals mutates every global option.
func (g *generator) globals() {
	object := vectoroptions.Globals()
	for i := range object.Options {
		option := &object.Options[i]
		if slices.Contains(apartFromOthers, option.Name) || len(option.Forms) == 0 {
			continue
		}
		beside := func(value any) map[string]any {
			all := configuration("sources", "internal_logs", map[string]any{})
			all[option.Name] = value
			return all
		}
		g.add("right", option.Name, false, beside(valueOf(option.Name, option.Forms, 0)))
		if wrong, ok := ofAnotherForm(option.Forms); ok {
			g.add("form", option.Name, true, beside(wrong))
		}
		g.below(option.Name, option.Forms, 0, beside)
	}
}
