// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package gotemplate

import "time"

// clock measures the processor time of a goroutine, so that the load of the machine does not count. The goroutine must
// stay locked to its thread. If the system does not report thread times, the clock measures wall-clock time.
type clock struct {
	start  time.Time
	thread time.Duration
}

func startClock() clock { return clock{start: time.Now(), thread: threadTime()} }

// elapsed returns the processor time since the start. The result is never larger than the wall-clock time since
// the start.
func (c clock) elapsed() time.Duration {
	passed := time.Since(c.start)
	if used := threadTime() - c.thread; used > 0 {
		return min(used, passed)
	}
	return passed
}
