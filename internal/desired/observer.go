// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import "context"

// Step is a step of a decision that may take long.
type Step string

const (
	// Render is the execution of the templates. Cached renderings are not observed.
	Render Step = "render"
	// Check is the check of the rendered Vector configuration.
	Check Step = "check"
)

// Observer is a function that is called when a step starts. It returns a function that is called with the error
// of the step when the step ends. An Observer must not affect decisions.
type Observer func(ctx context.Context, step Step) (end func(error))

func (o Observer) startStep(ctx context.Context, step Step) func(error) {
	if o == nil {
		return func(error) {}
	}
	return o(ctx, step)
}
