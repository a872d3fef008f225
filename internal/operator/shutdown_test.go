// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestWithDelayedCancel_DelaysStopAfterSignal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ending, stop := context.WithCancel(t.Context())
		ctx, cancel := withDelayedCancel(ending, 5*time.Second)
		defer cancel()
		told := time.Now()
		stop()
		<-ctx.Done()
		require.Equal(t, 5*time.Second, time.Since(told))
	})
}

// If the process fails, it stops without the delay.
func TestWithDelayedCancel_SkipsDelayAfterFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ending, stop := context.WithCancel(t.Context())
		ctx, cancel := withDelayedCancel(ending, time.Hour)
		stop()
		cancel()
		require.ErrorIs(t, ctx.Err(), context.Canceled)
	}) // No goroutine is left.
}

// Without the webhook, the operator stops without a delay.
func TestShutdownDelay_ReturnsZeroWithoutWebhook(t *testing.T) {
	require.Zero(t, (&WebhookOptions{BindAddress: "0", ShutdownDelay: time.Hour}).shutdownDelay())
	require.Equal(t, time.Hour, (&WebhookOptions{BindAddress: ":9443", ShutdownDelay: time.Hour}).shutdownDelay())
}

// After the stop signal, each response closes its connection.
func TestCloseConnectionsAfter_ClosesAfterNextResponse(t *testing.T) {
	ending, stop := context.WithCancel(t.Context())
	handler := closeConnectionsAfter(ending, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	header := func() string {
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", nil))
		return answer.Header().Get("Connection")
	}
	require.Empty(t, header())
	stop()
	require.Equal(t, "close", header())
}
