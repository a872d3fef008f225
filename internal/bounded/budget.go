// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package bounded

import (
	"context"

	"golang.org/x/sync/semaphore"
)

const (
	// budgetBytes is how many bytes of large texts may be at work at once. A byte costs
	// some forty while it is: with one text of the largest size, the rest still fits.
	budgetBytes = 2 << 20
	// smallBytes is how many bytes wait for nothing.
	smallBytes = 64 << 10
)

// Budget bounds how many bytes of text all who share it are at work on. Small texts wait
// for nobody, large ones for each other, in the order in which they came. It may be used
// by several goroutines at once; a nil Budget holds nobody up.
type Budget struct{ left *semaphore.Weighted }

// NewBudget returns a Budget that nothing is taken from.
func NewBudget() *Budget { return &Budget{left: semaphore.NewWeighted(budgetBytes)} }

// Share is what somebody has of a Budget. It is for one goroutine.
type Share struct {
	budget      *Budget
	bytes, held int64
}

// Reserve waits until so many bytes may be worked on, and takes more than there are for
// all of them. The error is the context's. Whoever holds a Share extends it, and reserves
// no other: two who hold one and wait for another would wait for ever.
func (b *Budget) Reserve(ctx context.Context, bytes int) (*Share, error) {
	share := &Share{budget: b}
	err := share.Extend(ctx, bytes)
	return share, err
}

// Extend adds bytes to a Share. It gives back what the Share has before it waits for all
// of it, so that nobody waits for who waits. After an error nothing is held.
func (s *Share) Extend(ctx context.Context, bytes int) error {
	s.bytes += int64(bytes)
	if s.budget == nil || s.bytes <= smallBytes || s.held == budgetBytes {
		return nil
	}
	return s.Yield(ctx)
}

// Yield lets those go first who wait. After an error nothing is held.
func (s *Share) Yield(ctx context.Context) error {
	if s.budget == nil || s.bytes <= smallBytes {
		return nil
	}
	s.Release()
	want := min(s.bytes, budgetBytes)
	if err := s.budget.left.Acquire(ctx, want); err != nil {
		return err
	}
	s.held = want
	return nil
}

// Release gives back what the Share has. It may be called again.
func (s *Share) Release() {
	if s.held > 0 {
		s.budget.left.Release(s.held)
		s.held = 0
	}
}
