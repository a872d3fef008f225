// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vrl

// state is what is known of variables and fields: what has changed since the one it is in.
// A key is $NAME of a variable, .FIELD of a field of the event, or . of the whole event.
type state struct {
	changed map[string]value
	parent  *state
	// left is how many looks at a key there may still be in all states of a program: how many
	// it takes grows with how deep blocks lie in each other.
	left *int
}

// looksPerChange is how many looks at a key take as long as noting that it has changed.
const looksPerChange = 8

// event is the key of the whole event.
const event = "."

func newState(left *int) *state { return &state{map[string]value{}, nil, left} }

func (s *state) child() *state { return &state{map[string]value{}, s, s.left} }

// spend counts looks, and reports whether there may be more.
func (s *state) spend(looks int) bool {
	*s.left -= looks
	return *s.left >= 0
}

// find looks for a key, as far as the looks that are left allow.
func (s *state) find(key string) (found value, isThere bool) {
	for ; s != nil && s.spend(1); s = s.parent {
		if found, isThere = s.changed[key]; isThere {
			return found, true
		}
	}
	return value{}, false
}

// get is what is known of a key. A field that nothing has changed may be anything.
func (s *state) get(key string) value {
	if found, isThere := s.find(key); isThere {
		return found.failing(no)
	}
	if _, isChanged := s.find(event); isChanged || key[0] == '$' {
		return value{}
	}
	return exactly(anything)
}

func (s *state) set(key string, to value) { s.changed[key] = to.failing(no) }

// leave takes over what a block has changed, of which its own variables are gone.
func (s *state) leave(block *state) {
	for key, changed := range block.changed {
		if !s.spend(looksPerChange) {
			return
		}
		if _, isThere := s.find(key); isThere || key[0] != '$' {
			s.set(key, changed)
		}
	}
}

// join takes over what one of two branches has changed.
func (s *state) join(one, other *state) {
	after := map[string]value{}
	for _, branch := range []*state{one, other} {
		for key := range branch.changed {
			if !s.spend(looksPerChange) {
				return
			}
			if _, isThere := s.find(key); isThere || key[0] != '$' {
				after[key] = union(one.get(key), other.get(key))
			}
		}
	}
	for key, changed := range after {
		s.set(key, changed)
	}
}

// forget takes over that a branch has changed something, and not what to.
func (s *state) forget(branch *state) {
	for key := range branch.changed {
		if !s.spend(looksPerChange) {
			return
		}
		s.set(key, value{})
	}
}
