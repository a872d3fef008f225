// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package template

import "time"

// clock measures for how long the goroutine that started it has had a processor: a
// machine that is busy elsewhere takes nothing from an execution. The goroutine stays on
// its thread meanwhile. Where threads are not accounted for, it is the time of day.
type clock struct {
	began  time.Time
	thread time.Duration
}

func startClock() clock { return clock{began: time.Now(), thread: threadTime()} }

// used is the processor time since the start, at most the time that has passed.
func (c clock) used() time.Duration {
	passed := time.Since(c.began)
	if used := threadTime() - c.thread; used > 0 {
		return min(used, passed)
	}
	return passed
}
