// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package template

import "context"

// ExecuteCharged is Execute, and returns what the meter holds against the
// execution: the bytes of memory by its own estimate.
func ExecuteCharged(ctx context.Context, s *Set, name string, data map[string]any) (string, int, error) {
	ctx, cancel := context.WithTimeout(ctx, s.budget.Timeout)
	defer cancel()
	r := &run{set: s, meter: &meter{ctx: ctx, budget: s.budget}}
	text, err := r.execute(s.scope.definitions[name], data)
	return text, r.memory, err
}
