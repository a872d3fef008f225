// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vrl

// state is the known values of variables and fields. It has only the changes since its parent. A key is $NAME for a
// variable, .FIELD for a field of the event, or . for the whole event.
type state struct {
	changed map[string]value
	parent  *state
	// remaining is the remaining number of lookups of keys in all states of a VRL program. It is limited because the number
	// of lookups grows with the nesting depth of blocks.
	remaining *int
}

// looksPerChange is the number of lookups that take as long as recording a change of a key.
const looksPerChange = 8

// event is the key of the whole event.
const event = "."

func newState(remaining *int) *state { return &state{map[string]value{}, nil, remaining} }

func (s *state) child() *state { return &state{map[string]value{}, s, s.remaining} }

// spend counts lookups, and reports whether more are allowed.
func (s *state) spend(cost int) bool {
	*s.remaining -= cost
	return *s.remaining >= 0
}

// find looks a key up, within the remaining lookups.
func (s *state) find(key string) (v value, ok bool) {
	for ; s != nil && s.spend(1); s = s.parent {
		if v, ok = s.changed[key]; ok {
			return v, true
		}
	}
	return value{}, false
}

// get returns the known value of a key. A field that was not changed may be anything.
func (s *state) get(key string) value {
	if v, ok := s.find(key); ok {
		return v.withFails(never)
	}
	if _, isChanged := s.find(event); isChanged || key[0] == '$' {
		return value{}
	}
	return exactly(anything)
}

func (s *state) set(key string, v value) { s.changed[key] = v.withFails(never) }

// mergeBlock adds the changes of a block to this state, except the changes of the block's own variables.
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

// join adds the changes of two branches to this state. Only one of them runs.
func (s *state) join(a, b *state) {
	joined := map[string]value{}
	for _, branch := range []*state{a, b} {
		for key := range branch.changed {
			if !s.spend(looksPerChange) {
				return
			}
			if _, ok := s.find(key); ok || key[0] != '$' {
				joined[key] = union(a.get(key), b.get(key))
			}
		}
	}
	for key, changed := range joined {
		s.set(key, changed)
	}
}

// forget records that a branch has changed values, without the new values.
func (s *state) forget(branch *state) {
	for key := range branch.changed {
		if !s.spend(looksPerChange) {
			return
		}
		s.set(key, value{})
	}
}
