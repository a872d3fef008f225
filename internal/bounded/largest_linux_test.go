// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package bounded

import (
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Each kind of text with the largest allowed size is decoded or rejected within one second of processor time, on a machine
// that decodes JSON of that size within 10 ms. The time is compared with that of JSON, because machines differ.
func TestLimits_BoundTimeOfLargestTexts(t *testing.T) {
	plain := []byte(filled("{", `"key-%d": "`+strings.Repeat("v", 24)+`",`, `"":1}`))
	reference := spentBy(func() {
		for range 10 {
			require.NoError(t, json.Unmarshal(plain, new(any)))
		}
	}) / 10
	for name, test := range largestTexts() {
		t.Run(name, func(t *testing.T) {
			var err error
			spent := spentBy(func() { err = test.read([]byte(test.text)) })
			t.Logf("%s, %.1f times as long as JSON", spent, float64(spent)/float64(reference))
			require.Equal(t, !test.isDecoded, errors.As(err, new(*Error)))
			require.Less(t, spent, 100*reference)
		})
	}
}

// spentBy returns the processor time of the thread that calls a function. Other tests and the garbage collector do not count.
func spentBy(do func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	now := func() time.Duration {
		var usage syscall.Rusage
		_ = syscall.Getrusage(syscall.RUSAGE_THREAD, &usage) // It never fails for the own thread.
		return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	}
	start := now()
	do()
	return now() - start
}
