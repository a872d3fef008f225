// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import "context"

// Step is a part of a decision that may be slow.
type Step string

const (
	// Render executes the templates. Cached renderings are not observed.
	Render Step = "render"
	// Check reads the rendered Vector configuration.
	Check Step = "check"
)

// Observer is called when a step starts. The returned function is called when the step ends, with
// its error. An Observer must not change anything: a decision is the same with and without it.
type Observer func(ctx context.Context, step Step) (end func(error))

func (o Observer) startStep(ctx context.Context, step Step) func(error) {
	if o == nil {
		return func(error) {}
	}
	return o(ctx, step)
}
