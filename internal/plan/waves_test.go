// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWaves(t *testing.T) {
	for name, test := range map[string]struct {
		words []string
		limit Limit
		want  []int
	}{
		"nothing to do":                          {[]string{"none", "conflict"}, Limit{Max: 1}, []int{0, 0}},
		"a note is nobody's wave":                {[]string{"note", "inject"}, Limit{Max: 1}, []int{0, 1}},
		"all at once":                            {[]string{"inject", "update", "remove"}, Limit{}, []int{1, 1, 1}},
		"so many at a time, by their order":      {[]string{"inject", "none", "update", "remove", "inject", "inject"}, Limit{Max: 2}, []int{1, 0, 1, 2, 2, 3}},
		"what goes on takes the room of a wave":  {[]string{"rolling", "inject", "inject"}, Limit{Max: 1}, []int{0, 2, 3}},
		"a pause is for ever, as things stand":   {[]string{"inject"}, Limit{Paused: true}, []int{0}},
		"and so is a failure, but for a removal": {[]string{"failed", "inject", "remove"}, Limit{Max: 1}, []int{0, 0, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			plans := plansOf(test.words...)
			Admit(plans, test.limit)
			before := slices.Clone(plans)

			require.Equal(t, test.want, Waves(plans, test.limit))
			require.Equal(t, before, plans, "the plans are not changed")
		})
	}
}
