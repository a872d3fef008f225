// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"sync"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
)

// sharedRendering is a rendering that does not depend on the namespace, and the objects that are derived from
// it. All namespaces with the same rendering share it.
type sharedRendering struct {
	result *render.Result

	mu sync.Mutex
	// byKey contains the derived objects by the rest of their input. It usually has only one entry.
	byKey map[string]*plan.Desired
	// byInput contains the derived objects by the rest of their input and the requested input.
	byInput map[string]requestedDesired
	// permitted contains the digests of the policies that permit the rendering.
	permitted map[string]bool
}

// requestedDesired is a desired state with a requested input, and the size of that input in bytes. Desired
// states for different inputs share all other data.
type requestedDesired struct {
	desired *plan.Desired
	bytes   int
}

// maxInputs is the maximum number of requested inputs, and of policies, that a sharedRendering keeps. The
// number must be limited, because any number of inputs may result in the same values.
const maxInputs = 8

func newSharedRendering(result *render.Result) *sharedRendering {
	return &sharedRendering{result: result, byKey: map[string]*plan.Desired{}, byInput: map[string]requestedDesired{}, permitted: map[string]bool{}}
}

// isPermitted reports whether a policy, by its digest, has already permitted the rendering. It returns false
// for a nil rendering.
func (e *sharedRendering) isPermitted(policy string) bool {
	if e == nil {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.permitted[policy]
}

// permit records that a policy permits the rendering. It does nothing for a nil rendering.
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

// desiredFor returns the desired state for a requested input, which all namespaces share. The first key
// identifies the rest of the input, and the second key the requested input. desiredFor also reports whether the
// desired state for the first key already existed, so that its memory is counted only once.
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
