// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"sync"

	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
)

// execution is what templates rendered that do not read the namespace, and what was made from it:
// all namespaces that render the same share it.
type execution struct {
	result *render.Result

	mu sync.Mutex
	// made are by the rest of what they are made from: nearly always one.
	made map[string]*plan.Desired
	// permitted are the digests of policies that have been found to permit it.
	permitted map[string]bool
}

func newExecution(result *render.Result) *execution {
	return &execution{result: result, made: map[string]*plan.Desired{}, permitted: map[string]bool{}}
}

// isPermitted reports whether a policy is known to permit what was rendered; false for nil.
func (e *execution) isPermitted(policy string) bool {
	if e == nil {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.permitted[policy]
}

// permit records that a policy permits what was rendered. It does nothing for nil.
func (e *execution) permit(policy string) {
	if e == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.permitted[policy] = true
}

// desired returns what is made, or was made in another namespace, from the rest of what that depends on.
func (e *execution) desired(from string, fresh func() *plan.Desired) *plan.Desired {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.made[from] == nil {
		e.made[from] = fresh()
	}
	return e.made[from]
}
