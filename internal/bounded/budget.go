// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package bounded

import (
	"context"

	"golang.org/x/sync/semaphore"
)

const (
	// budgetBytes is the number of bytes of large texts that may be processed at once: one text of the largest size.
	// Reading such a text allocates up to 80 MiB. About half of that is in use at a time.
	budgetBytes = largestText
	// smallBytes is the largest size of a text that does not wait.
	smallBytes = 64 << 10
)

// Budget limits how many bytes of large texts are processed at the same time. Small texts do not wait. Large texts wait
// in the order of their requests. It is safe for concurrent use. A nil Budget has no limit.
type Budget struct{ available *semaphore.Weighted }

// NewBudget returns an unused Budget.
func NewBudget() *Budget { return &Budget{available: semaphore.NewWeighted(budgetBytes)} }

// Share is a reserved part of a Budget. It is not safe for concurrent use.
type Share struct {
	budget          *Budget
	bytes, reserved int64
}

// Reserve waits until a number of bytes may be processed, and returns a Share for them. A number larger than the Budget
// waits for the whole Budget. The error is the context's error. A caller with a Share must extend it and not reserve
// another one: two callers that wait for each other would deadlock.
func (b *Budget) Reserve(ctx context.Context, bytes int) (*Share, error) {
	share := &Share{budget: b}
	err := share.Extend(ctx, bytes)
	return share, err
}

// Extend adds bytes to a Share. To avoid a deadlock, it releases the Share before it waits for the larger one. After an
// error, the Share is empty.
func (s *Share) Extend(ctx context.Context, bytes int) error {
	s.bytes += int64(bytes)
	if s.budget == nil || s.bytes <= smallBytes || s.reserved == budgetBytes {
		return nil
	}
	return s.Reacquire(ctx)
}

// Reacquire releases the Share and reserves its bytes again, so that waiting Shares are first. After an error, the
// Share is empty.
func (s *Share) Reacquire(ctx context.Context) error {
	if s.budget == nil || s.bytes <= smallBytes {
		return nil
	}
	s.Release()
	amount := min(s.bytes, budgetBytes)
	if err := s.budget.available.Acquire(ctx, amount); err != nil {
		return err
	}
	s.reserved = amount
	return nil
}

// Release returns the bytes of the Share to the Budget. It may be called several times.
func (s *Share) Release() {
	if s.reserved > 0 {
		s.budget.available.Release(s.reserved)
		s.reserved = 0
	}
}
