// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"slices"
	"time"
)

// firstLook and lastLook are when to look again whether an old companion is still referred
// to; each wait is twice the one before.
const (
	firstLook = 5 * time.Second
	lastLook  = time.Hour
)

// backoff is when something is looked at next, and the wait after that.
type backoff struct {
	at   time.Time
	wait time.Duration
}

// IsRevisionDue reports whether one of some old companions has not been looked at lately.
func (s *Sidecar) IsRevisionDue(companions []string) bool {
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	now := s.memory.now()
	return slices.ContainsFunc(companions, func(name string) bool { return !now.Before(s.revisions[name].at) })
}

// KeepRevisions notes which old companions are not free to go, because a workload can be
// rolled back to them, and forgets all others. It returns how long to wait before they are
// looked at again; 0 for ever.
func (s *Sidecar) KeepRevisions(companions, free []string) (wait time.Duration) {
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	if len(s.revisions)+len(companions) == 0 {
		return 0
	}
	before, now := s.revisions, s.memory.now()
	s.revisions = map[string]backoff{}
	for _, name := range companions {
		if slices.Contains(free, name) {
			continue
		}
		next := before[name]
		if !now.Before(next.at) {
			next.wait = min(max(firstLook, 2*next.wait), lastLook)
			next.at = now.Add(next.wait)
		}
		s.revisions[name] = next
		if left := next.at.Sub(now); wait == 0 || left < wait {
			wait = left
		}
	}
	return wait
}
