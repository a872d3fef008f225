// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	patience = time.Minute
	interval = 50 * time.Millisecond
)

// mismatch is the difference between an object and the shown state.
type mismatch struct{ object, expected, found string }

func (m mismatch) Error() string {
	return fmt.Sprintf("%s: expected %s, found %s", m.object, m.expected, m.found)
}

// expect returns nil if a value is as expected.
func expect[T comparable](object, of string, expected, found T) error {
	if expected == found {
		return nil
	}
	return mismatch{object, fmt.Sprintf("%s %v", of, expected), fmt.Sprint(found)}
}

// finding is the result of a check of the cluster: whether the awaited state is reached, and the progress as text.
type finding struct {
	done  bool
	state string
}

// wait calls look until an object is as expected, and shows the progress. The error names object, expectation and
// the last finding.
func (d *demo) wait(ctx context.Context, object, expected string, look func(context.Context) (finding, error)) error {
	progress := d.working("waiting for " + expected)
	defer progress.end()
	last := "nothing yet"
	err := wait.PollUntilContextTimeout(ctx, interval, d.patience, true, func(ctx context.Context) (bool, error) {
		if d.operator != nil && d.operator.hasEnded() {
			return false, fmt.Errorf("the operator has ended by itself: %w", d.operator.end())
		}
		found, err := look(ctx)
		switch {
		case err != nil:
			last = err.Error() // It may pass: what is waited for need not exist yet.
		case found.state != "":
			last = found.state
			progress.say(found.state)
		}
		return found.done, nil
	})
	if err != nil && ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		return mismatch{object, expected + " within " + d.patience.String(), last}
	}
	if err != nil {
		return fmt.Errorf("waiting for %s: %s: %w", object, expected, err)
	}
	return nil
}
