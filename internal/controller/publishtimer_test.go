// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A reconcile or a request to the webhook can read the new publication before the timer fires. All other VectorSidecars
// still get a reconcile.
func TestPublishTimer_FiresAfterAnEarlierRead(t *testing.T) {
	for name, before := range map[string]func(*publishTimer){
		"the timer waits": func(timer *publishTimer) {
			require.Eventually(t, func() bool { return len(timer.due) == 0 }, time.Minute, time.Millisecond)
		},
		"the timer has no time": func(*publishTimer) {},
	} {
		t.Run(name, func(t *testing.T) {
			var clock sync.Mutex
			now := time.Now()
			timer := newPublishTimer(func() time.Time {
				clock.Lock()
				defer clock.Unlock()
				return now
			})
			ctx, cancel := context.WithCancel(t.Context())
			fired, ended := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(ended)
				timer.run(ctx, func(context.Context) { close(fired) })
			}()
			timer.set(now.Add(50 * time.Millisecond))
			before(timer)

			clock.Lock()
			now = now.Add(time.Second)
			clock.Unlock()
			timer.set(time.Time{})

			select {
			case <-fired:
			case <-time.After(time.Minute):
				require.Fail(t, "it has not fired")
			}
			cancel()
			<-ended
		})
	}
}
