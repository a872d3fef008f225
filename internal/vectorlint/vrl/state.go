// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vrl

// state contains the known values of variables and fields. It stores only the changes since its parent. Its
// keys are $NAME for a variable, .FIELD for a field of the event, and . for the whole event.
type state struct {
	changed map[string]value
	parent  *state
	// remaining is the number of lookups that are still allowed in all states of a program. It is limited
	// because the number of lookups grows with the nesting depth of blocks.
	remaining *int
}

// looksPerChange is the number of lookups that a recorded change counts as, because both take the same time.
const looksPerChange = 8

// event is the key of the whole event.
const event = "."

// newState returns a state without changes. remaining is the remaining effort.
func newState(remaining *int) *state { return &state{map[string]value{}, nil, remaining} }

// child returns a state that starts with the values of this state, for a branch or a closure.
func (s *state) child() *state { return &state{map[string]value{}, s, s.remaining} }

// spend subtracts a number of lookups. It reports whether the check may continue.
func (s *state) spend(cost int) bool {
	*s.remaining -= cost
	return *s.remaining >= 0
}

// find returns the value of a key from the state or the closest parent that has changed the key. It returns
// false for an unchanged key, and if no more lookups are allowed.
func (s *state) find(key string) (v value, ok bool) {
	for layer := s; layer != nil && s.spend(1); layer = layer.parent {
		if v, ok = layer.changed[key]; ok {
			return v, true
		}
	}
	return value{}, false
}

// get returns the known value of a key. An unchanged field of the event may have any kind.
func (s *state) get(key string) value {
	if v, ok := s.find(key); ok {
		return v.withFails(never)
	}
	if _, isChanged := s.find(event); isChanged || key[0] == '$' {
		return value{}
	}
	return valueOfKinds(anything)
}

// set records the value of a key.
func (s *state) set(key string, v value) { s.changed[key] = v.withFails(never) }

// mergeBlock adds the changes in a block to the state, except changes of variables that exist only in the
// block.
func (s *state) mergeBlock(block *state) {
	for key, changed := range block.changed {
		if !s.spend(looksPerChange) {
			return
		}
		if _, ok := s.find(key); ok || key[0] != '$' {
			s.set(key, changed)
		}
	}
}

// joinBranches adds the changes in two branches to the state. Only one of the branches runs.
func (s *state) joinBranches(a, b *state) {
	joined := map[string]value{}
	for _, branch := range []*state{a, b} {
		for key := range branch.changed {
			if !s.spend(looksPerChange) {
				return
			}
			if _, ok := s.find(key); ok || key[0] != '$' {
				joined[key] = unionOfValues(a.get(key), b.get(key))
			}
		}
	}
	for key, changed := range joined {
		s.set(key, changed)
	}
}

// forgetBranch makes the values that a branch has changed unknown.
func (s *state) forgetBranch(branch *state) {
	for key := range branch.changed {
		if !s.spend(looksPerChange) {
			return
		}
		s.set(key, value{})
	}
}
