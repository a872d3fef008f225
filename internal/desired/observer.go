// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import "context"

// Step is a part of a decision that may take its time.
type Step string

const (
	// Render executes the templates; a rendering that is remembered is none.
	Render Step = "render"
	// Check reads the Vector configuration in what was rendered.
	Check Step = "check"
)

// Observer is told that a step begins. What it returns is called when the step
// ends, with its error. It must not change anything: a decision is the same with
// and without it.
type Observer func(ctx context.Context, step Step) (end func(error))

func (o Observer) begin(ctx context.Context, step Step) func(error) {
	if o == nil {
		return func(error) {}
	}
	return o(ctx, step)
}
