// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"time"
)

// unstoredError explains why a revision cannot be stored, recorded or marked, and when the operator tries again.
type unstoredError struct {
	// revision is "" if the error concerns all revisions.
	revision string
	err      error
	wait     time.Duration
	until    time.Time
}

func (e *unstoredError) Error() string {
	if e.revision == "" {
		return e.err.Error()
	}
	return fmt.Sprintf("revision %s cannot be stored: %v", e.revision, e.err)
}
func (e *unstoredError) Unwrap() error { return e.err }
