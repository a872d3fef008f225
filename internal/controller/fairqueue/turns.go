// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package fairqueue

import (
	"time"

	"k8s.io/utils/third_party/forked/golang/btree"
)

// shareQueue selects the share of the next item by start-time fair queuing. The selected share has the least used worker
// time, including the time of its items in progress. A share that had no items starts at the virtual time, so that it
// cannot save up idle time.
type shareQueue[T comparable] struct {
	// limit is the number of workers for one share.
	limit int
	// virtual is the highest used time of a share at its selection.
	virtual time.Duration
	shares  map[string]*share[T]
	// Each share is in one of these. A share with items in progress is running, and a share with only ready items is
	// waiting. A share without items is idle while it has used more than the virtual time.
	running       map[*share[T]]struct{}
	waiting, idle *btree.BTree[*share[T]]
	sequence      uint64
}

// share has the items and the used worker time of one share.
type share[T comparable] struct {
	name string
	// used is the worker time of finished items, plus the virtual time at which the share started.
	used  time.Duration
	ready *btree.BTree[*item[T]]
	// started is when each item in progress was started.
	started map[T]time.Time
	// sequence orders shares with the same used time by their last turn. A share without a turn counts from its first
	// item.
	sequence uint64
}

// newShareQueue returns a queue without shares. limit is the number of workers for one share.
func newShareQueue[T comparable](limit int) *shareQueue[T] {
	return &shareQueue[T]{
		limit: limit, shares: map[string]*share[T]{}, running: map[*share[T]]struct{}{},
		waiting: btree.New(treeDegree, isLessUsed[T]), idle: btree.New(treeDegree, isLessUsed[T]),
	}
}

// isLessUsed sorts shares without items in progress by their used worker time.
func isLessUsed[T comparable](a, b *share[T]) bool {
	if a.used != b.used {
		return a.used < b.used
	}
	return a.sequence < b.sequence
}

// isServedBefore sorts ready items of a share by priority, and then by the order in which they became ready.
func isServedBefore[T comparable](a, b *item[T]) bool {
	if a.priority != b.priority {
		return a.priority > b.priority
	}
	return a.sequence < b.sequence
}

// addItem adds a ready item to the share with a name.
func (t *shareQueue[T]) addItem(name string, ready *item[T]) {
	owner, exists := t.shares[name]
	if !exists {
		owner = &share[T]{name: name, ready: btree.New(treeDegree, isServedBefore[T]), started: map[T]time.Time{}}
		t.shares[name] = owner
	}
	t.detachShare(owner)
	if owner.ready.Len() == 0 && len(owner.started) == 0 {
		owner.used, owner.sequence = max(owner.used, t.virtual), t.nextSequence()
	}
	owner.ready.ReplaceOrInsert(ready)
	t.attachShare(owner)
}

// removeItem removes a ready item from the share with a name, and reports whether the share had the item.
func (t *shareQueue[T]) removeItem(name string, ready *item[T]) bool {
	owner, exists := t.shares[name]
	if !exists {
		return false
	}
	t.detachShare(owner)
	_, existed := owner.ready.Delete(ready)
	t.attachShare(owner)
	return existed
}

// takeItem removes the next item and records that a worker starts it. It returns nil if no share has a ready item, or
// if all such shares have as many workers as the limit allows.
func (t *shareQueue[T]) takeItem(now time.Time) (*item[T], *share[T]) {
	selected, exists := t.waiting.Min()
	for candidate := range t.running {
		if candidate.ready.Len() == 0 || len(candidate.started) >= t.limit {
			continue
		}
		if !exists || candidate.isBefore(selected, now) {
			selected, exists = candidate, true
		}
	}
	if !exists {
		return nil, nil
	}
	t.detachShare(selected)
	t.virtual = max(t.virtual, selected.usedTime(now))
	selected.sequence = t.nextSequence()
	head, _ := selected.ready.DeleteMin()
	selected.started[head.key] = now
	t.attachShare(selected)
	t.forgetIdle()
	return head, selected
}

// nextSequence returns a number that is higher than all earlier ones.
func (t *shareQueue[T]) nextSequence() uint64 {
	t.sequence++
	return t.sequence
}

// finishItem records that the item with a key is finished, and returns its worker time.
func (t *shareQueue[T]) finishItem(owner *share[T], key T, now time.Time) time.Duration {
	t.detachShare(owner)
	worked := now.Sub(owner.started[key])
	delete(owner.started, key)
	owner.used += worked
	t.attachShare(owner)
	t.forgetIdle()
	return worked
}

// inProgress returns the worker time of all items in progress, and the worker time of the longest one.
func (t *shareQueue[T]) inProgress(now time.Time) (total, longest time.Duration) {
	for owner := range t.running {
		for _, start := range owner.started {
			total += now.Sub(start)
			longest = max(longest, now.Sub(start))
		}
	}
	return total, longest
}

// detachShare removes a share from its set. Each change of a share is between detachShare and attachShare, because
// the fields of the share determine its position in the set.
func (t *shareQueue[T]) detachShare(owner *share[T]) {
	delete(t.running, owner)
	t.waiting.Delete(owner)
	t.idle.Delete(owner)
}

// attachShare adds a share to the set of its state: running, waiting or idle.
func (t *shareQueue[T]) attachShare(owner *share[T]) {
	switch {
	case len(owner.started) > 0:
		t.running[owner] = struct{}{}
	case owner.ready.Len() > 0:
		t.waiting.ReplaceOrInsert(owner)
	default:
		t.idle.ReplaceOrInsert(owner)
	}
}

// forgetIdle drops the idle shares that have not used more than the virtual time. If no share has items, it drops all
// shares.
func (t *shareQueue[T]) forgetIdle() {
	isIdle := len(t.running) == 0 && t.waiting.Len() == 0
	for {
		candidate, exists := t.idle.Min()
		if !exists || !isIdle && candidate.used > t.virtual {
			break
		}
		t.idle.DeleteMin()
		delete(t.shares, candidate.name)
	}
	if isIdle {
		t.virtual = 0
	}
}

// usedTime returns the worker time of the finished items and of the items in progress.
func (s *share[T]) usedTime(now time.Time) time.Duration {
	used := s.used
	for _, start := range s.started {
		used += now.Sub(start)
	}
	return used
}

// isBefore reports whether a share is selected before another one. The share with less used time is first. If the times
// are equal, the share with the earlier last turn is first.
func (s *share[T]) isBefore(other *share[T], now time.Time) bool {
	used, otherUsed := s.usedTime(now), other.usedTime(now)
	if used != otherUsed {
		return used < otherUsed
	}
	return s.sequence < other.sequence
}
