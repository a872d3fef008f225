// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"context"
	"net/http"
	"time"
)

// Replacing an operator must not make the API server reject a VectorSidecar. A terminating pod
// still gets calls until all nodes know about its termination, and over connections that were
// opened before. Closing a connection just when a request arrives fails that request.

// shutdownDelay returns the time for which the process keeps working after the signal to stop; 0 without a webhook.
func (w *WebhookOptions) shutdownDelay() time.Duration {
	if !w.isEnabled() {
		return 0
	}
	return w.ShutdownDelay
}

// withDelayedCancel returns a context with the values of ending. It is canceled when the delay after the end of
// ending is over, or by its CancelFunc.
func withDelayedCancel(ending context.Context, delay time.Duration) (context.Context, context.CancelFunc) {
	if delay == 0 {
		return context.WithCancel(ending)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ending))
	stop := context.AfterFunc(ending, func() {
		timer := time.NewTimer(delay)
		defer timer.Stop()
		select {
		case <-timer.C:
			cancel()
		case <-ctx.Done():
		}
	})
	return ctx, func() {
		stop()
		cancel()
	}
}

// closeConnectionsAfter wraps a handler. After the signal to stop, each response closes its connection, so that the
// next request opens a connection to another replica.
func closeConnectionsAfter(ending context.Context, handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if ending.Err() != nil {
			w.Header().Set("Connection", "close")
		}
		handler.ServeHTTP(w, r)
	})
}
