// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"sync"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
)

// sharedRendering is a rendered result that does not depend on the namespace, and the objects derived
// from it. All namespaces with the same rendering share it.
type sharedRendering struct {
	result *render.Result

	mu sync.Mutex
	// byKey has the derived objects by the rest of their input. There is nearly always only one.
	byKey map[string]*plan.Desired
	// byInput has the derived objects with their requested input, by that input.
	byInput map[string]requestedDesired
	// permitted has the digests of policies that permit the result.
	permitted map[string]bool
}

// requestedDesired is the desired state for a requested input, and the size of the input in bytes. All
// inputs share the rest.
type requestedDesired struct {
	*plan.Desired

	bytes int
}

// maxInputs limits the number of inputs and policies of an execution, because the same values may
// result from any number of inputs.
const maxInputs = 8

func newSharedRendering(result *render.Result) *sharedRendering {
	return &sharedRendering{result: result, byKey: map[string]*plan.Desired{}, byInput: map[string]requestedDesired{}, permitted: map[string]bool{}}
}

// isPermitted reports whether a policy is known to permit the result; false for nil.
func (e *sharedRendering) isPermitted(policy string) bool {
	if e == nil {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.permitted[policy]
}

// permit records that a policy permits the result. It does nothing for nil.
func (e *sharedRendering) permit(policy string) {
	if e == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.permitted) >= maxInputs {
		clear(e.permitted)
	}
	e.permitted[policy] = true
}

// desiredFor returns the plan.Desired for a requested input. The first key identifies the other input,
// and the second the requested input. The result for one namespace is shared with other namespaces.
// isShared reports whether it existed before, so that its memory is counted once.
func (e *sharedRendering) desiredFor(baseKey string, fresh func() *plan.Desired, inputKey string, newInput func() plan.RequestedInput) (result requestedDesired, isShared bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	key := baseKey + " " + inputKey
	if cached, isMade := e.byInput[key]; isMade {
		return cached, true
	}
	if isShared = e.byKey[baseKey] != nil; !isShared {
		e.byKey[baseKey] = fresh()
	}
	if len(e.byInput) >= maxInputs {
		clear(e.byInput)
	}
	input := newInput()
	e.byInput[key] = requestedDesired{e.byKey[baseKey].WithInput(input), bounded.Footprint(input)}
	return e.byInput[key], isShared
}
