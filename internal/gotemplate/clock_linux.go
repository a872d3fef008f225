// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package gotemplate

import (
	"syscall"
	"time"
)

// rusageThread is RUSAGE_THREAD of getrusage(2), which package syscall does not define.
const rusageThread = 1

// threadTime returns the processor time of the calling thread, or 0 if it is unknown.
func threadTime() time.Duration {
	var usage syscall.Rusage
	if syscall.Getrusage(rusageThread, &usage) != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
