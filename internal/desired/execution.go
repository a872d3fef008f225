// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"sync"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
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
	// asked are the same with the input, by that.
	asked map[string]askedDesired
	// permitted are the digests of policies that have been found to permit it.
	permitted map[string]bool
}

// askedDesired is what is desired for an input, and the size of that in bytes: the rest is shared by all inputs.
type askedDesired struct {
	*plan.Desired

	bytes int
}

// mostAsked bounds how many inputs and policies an execution has: values may come about in any number of ways
// and be the same.
const mostAsked = 8

func newExecution(result *render.Result) *execution {
	return &execution{result: result, made: map[string]*plan.Desired{}, asked: map[string]askedDesired{}, permitted: map[string]bool{}}
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
	if len(e.permitted) >= mostAsked {
		clear(e.permitted)
	}
	e.permitted[policy] = true
}

// desired returns the plan.Desired for an input. What it is made of besides has the key of, the input the key asked:
// what was made for one namespace is shared with others. isShared reports whether it was made before, so that its
// memory is counted once.
func (e *execution) desired(of string, fresh func() *plan.Desired, asked string, given func() plan.Asked) (found askedDesired, isShared bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	key := of + " " + asked
	if found, isMade := e.asked[key]; isMade {
		return found, true
	}
	if isShared = e.made[of] != nil; !isShared {
		e.made[of] = fresh()
	}
	if len(e.asked) >= mostAsked {
		clear(e.asked)
	}
	input := given()
	e.asked[key] = askedDesired{e.made[of].For(input), bounded.Footprint(input)}
	return e.asked[key], isShared
}
