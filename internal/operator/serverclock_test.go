// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The clock follows the Date headers of the API server, also if its time changes. It ignores a single late response.
func TestServerClock_FollowsDatesOfAPIServer(t *testing.T) {
	noon := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	own := noon
	clock := newServerClock(func() time.Time { return own })
	require.Equal(t, noon, clock.currentTime(), "nobody has answered yet")

	server := noon.Add(time.Hour)
	answer := func(passed time.Duration) {
		own, server = own.Add(passed), server.Add(passed)
		clock.recordDate(server.Truncate(time.Second))
	}
	for range 20 {
		answer(350 * time.Millisecond)
		require.WithinDuration(t, server, clock.currentTime(), time.Second)
	}
	require.WithinDuration(t, server, clock.currentTime(), 100*time.Millisecond, "the dates just after a full second are the nearest")

	own, server = own.Add(time.Minute), server.Add(time.Minute)
	require.WithinDuration(t, server, clock.currentTime(), 100*time.Millisecond, "nobody has answered for a minute")

	before := clock.currentTime()
	clock.recordDate(server.Add(-10 * time.Second))
	require.Equal(t, before, clock.currentTime(), "one late answer is no other time")

	server = server.Add(-10 * time.Minute)
	for range mostDoubts {
		answer(time.Second)
	}
	require.WithinDuration(t, server, clock.currentTime(), time.Second, "the API server's clock was put back")
	server = server.Add(time.Hour)
	answer(time.Second)
	require.WithinDuration(t, server, clock.currentTime(), time.Second, "and on")
}

// The Date header of each response of the API server sets the clock.
func TestServerClock_ReadsDatesOfResponses(t *testing.T) {
	date := "Mon, 23 Nov 2026 12:00:00 GMT"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Date", date) }))
	defer server.Close()
	own := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	clock := newServerClock(func() time.Time { return own })
	get := func() {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
		require.NoError(t, err)
		response, err := clock.wrapTransport(http.DefaultTransport).RoundTrip(request)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
	}
	get()
	require.Equal(t, time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC), clock.currentTime())
	date = "today"
	get()
	require.Equal(t, time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC), clock.currentTime(), "what is no date says nothing")
}
