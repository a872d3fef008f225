// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"sync"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
)

// execution is a rendered result that does not depend on the namespace, and the objects derived
// from it. All namespaces with the same rendering share it.
type execution struct {
	result *render.Result

	mu sync.Mutex
	// made has the derived objects by the rest of their input. There is nearly always only one.
	made map[string]*plan.Desired
	// asked has the derived objects with their requested input, by that input.
	asked map[string]askedDesired
	// permitted has the digests of policies that permit the result.
	permitted map[string]bool
}

// askedDesired is the desired state for a requested input, and the size of the input in bytes. All
// inputs share the rest.
type askedDesired struct {
	*plan.Desired

	bytes int
}

// mostAsked limits the number of inputs and policies of an execution, because the same values may
// result from any number of inputs.
const mostAsked = 8

func newExecution(result *render.Result) *execution {
	return &execution{result: result, made: map[string]*plan.Desired{}, asked: map[string]askedDesired{}, permitted: map[string]bool{}}
}

// isPermitted reports whether a policy is known to permit the result; false for nil.
func (e *execution) isPermitted(policy string) bool {
	if e == nil {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.permitted[policy]
}

// permit records that a policy permits the result. It does nothing for nil.
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

// desired returns the plan.Desired for a requested input. The first key identifies the other input,
// and the second the requested input. The result for one namespace is shared with other namespaces.
// isShared reports whether it existed before, so that its memory is counted once.
func (e *execution) desired(of string, fresh func() *plan.Desired, asked string, given func() plan.RequestedInput) (found askedDesired, isShared bool) {
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
	e.asked[key] = askedDesired{e.made[of].WithInput(input), bounded.Footprint(input)}
	return e.asked[key], isShared
}
