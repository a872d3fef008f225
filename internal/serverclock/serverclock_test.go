// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package serverclock

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The clock follows the dates of the API server, also if its time changes. A late response changes nothing.
func TestClock_FollowsDatesOfAPIServer(t *testing.T) {
	const delay = 20 * time.Millisecond
	for _, skew := range []time.Duration{time.Hour, 700 * time.Millisecond, -700 * time.Millisecond, -time.Hour} {
		local := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
		clock := New(func() time.Time { return local })
		require.Equal(t, local, clock.Now(), "no response yet")

		server := func() time.Time { return local.Add(skew) }
		respond := func(passed time.Duration) {
			local = local.Add(passed)
			sent := local
			local = local.Add(delay)
			clock.recordDate(server().Truncate(time.Second), sent, local)
		}
		for range 40 {
			respond(330 * time.Millisecond)
			require.WithinDuration(t, server(), clock.Now(), time.Second+delay)
		}
		require.WithinDuration(t, server(), clock.Now(), 100*time.Millisecond, "the responses near full seconds show the time best")

		local = local.Add(time.Minute)
		require.WithinDuration(t, server(), clock.Now(), 100*time.Millisecond, "a minute without a response")

		before := clock.Now()
		clock.recordDate(server().Add(-10*time.Second).Truncate(time.Second), local.Add(-11*time.Second), local)
		require.Equal(t, before, clock.Now(), "a response that took 11 seconds")

		for _, step := range []time.Duration{-10 * time.Minute, 2 * time.Hour} {
			skew += step
			respond(time.Second)
			require.WithinDuration(t, server(), clock.Now(), time.Second+delay, "the API server's clock was changed by %s", step)
		}
	}
}

// If the clocks agree, the estimate never differs from the clock of the process: a time that the operator measures is as
// long as the difference of two times of the API server.
func TestClock_KeepsTimeOfAgreeingClocks(t *testing.T) {
	local := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	clock := New(func() time.Time { return local })
	for range 100 {
		sent := local
		local = local.Add(37 * time.Millisecond)
		clock.recordDate(local.Truncate(time.Second), sent, local)
		require.Equal(t, local, clock.Now())
	}
}

// The Date header of each response of the API server sets the clock.
func TestClock_ReadsDatesOfResponses(t *testing.T) {
	date := "Mon, 23 Nov 2026 12:00:00 GMT"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Date", date) }))
	defer server.Close()
	own := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	clock := New(func() time.Time { return own })
	get := func() {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
		require.NoError(t, err)
		response, err := clock.WrapTransport(http.DefaultTransport).RoundTrip(request)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
	}
	get()
	require.Equal(t, time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC), clock.Now())
	date = "today"
	get()
	require.Equal(t, time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC), clock.Now(), "no date in the response")
}
