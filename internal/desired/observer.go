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

// Observer is called when a step starts, and returns a function that is called with the step's error when the step
// ends. An Observer must not affect decisions.
type Observer func(ctx context.Context, step Step) (end func(error))

// startStep calls the Observer, if there is one, and returns the function to call when the step ends.
func (o Observer) startStep(ctx context.Context, step Step) func(error) {
	if o == nil {
		return func(error) {}
	}
	return o(ctx, step)
}
