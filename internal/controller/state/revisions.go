// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"slices"
	"time"
)

// firstLook and lastLook bound the backoff for checking whether an old companion is still referred
// to.
const (
	firstLook = 5 * time.Second
	lastLook  = time.Hour
)

// backoff is when something is checked next, and the wait after that.
type backoff struct {
	at   time.Time
	wait time.Duration
}

// revisions are the old companions of a VectorSidecar that a workload can be rolled back to.
type revisions struct {
	*shared

	kept map[string]backoff
}

// IsRevisionDue reports whether one of the old companions has not been checked recently.
func (s *revisions) IsRevisionDue(companions []string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	return slices.ContainsFunc(companions, func(name string) bool { return !now.Before(s.kept[name].at) })
}

// KeepRevisions records which old companions must stay because a workload can be rolled back to
// them, and drops all others. It returns how long to wait before they are checked again; 0 for
// never.
func (s *revisions) KeepRevisions(companions, free []string) (wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.kept)+len(companions) == 0 {
		return 0
	}
	before, now := s.kept, s.now()
	s.kept = map[string]backoff{}
	for _, name := range companions {
		if slices.Contains(free, name) {
			continue
		}
		next := before[name]
		if !now.Before(next.at) {
			next.wait = NextWait(next.wait, firstLook, lastLook)
			next.at = now.Add(next.wait)
		}
		s.kept[name] = next
		if left := next.at.Sub(now); wait == 0 || left < wait {
			wait = left
		}
	}
	return wait
}
