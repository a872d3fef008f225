// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"context"
	"net/http"
	"time"
)

// A VectorSidecar must not be refused because an operator is replaced. A pod that is told
// to stop is still called: for as long as nodes do not know, and by connections that were
// made before. One that is closed just when a request comes in fails that request.

// delay is for how long the process works on after it was told to stop.
func (w *WebhookOptions) delay() time.Duration {
	if !w.serves() {
		return 0
	}
	return w.ShutdownDelay
}

// withDelay returns a context that ends some time after another one, or when it is cancelled.
func withDelay(ending context.Context, delay time.Duration) (context.Context, context.CancelFunc) {
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

// closingAfter answers as another handler does. From the signal to stop on, an answer is the
// last one of its connection, so that the next request makes one to who stays.
func closingAfter(ending context.Context, handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if ending.Err() != nil {
			w.Header().Set("Connection", "close")
		}
		handler.ServeHTTP(w, r)
	})
}
