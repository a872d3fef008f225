// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"net/http"
	"sync"
	"time"
)

// serverClock estimates the time of the API server, which writes the times in workloads and their conditions. Soaks and
// windows must not depend on the clock of the operator's node. Every response of the API server contains its time in
// whole seconds, and the clock of the process measures the time since then. The Lease is renewed every few seconds, so
// there is always a recent response.
type serverClock struct {
	local func() time.Time

	mu sync.Mutex
	// offset is the difference between the clock of the API server and the clock of the process.
	offset time.Duration
	// isKnown is true after the first response. doubts is the number of consecutive responses with a time before the
	// estimate.
	isKnown bool
	doubts  int
}

const (
	// dateError is the maximum normal delay of the time in a response: it is truncated to the second, and a response
	// takes some time.
	dateError = 2 * time.Second
	// mostDoubts is the number of consecutive responses with a time before the estimate after which the clock of the
	// API server was certainly set back.
	mostDoubts = 3
)

// newServerClock returns a clock based on the clock of the process, nil for time.Now.
func newServerClock(local func() time.Time) *serverClock {
	if local == nil {
		local = time.Now
	}
	return &serverClock{local: local}
}

// currentTime returns the API server's time. Before the first response, it returns the time of the process.
func (c *serverClock) currentTime() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.local().Add(c.offset)
}

// recordDate corrects the estimate by the time in a response. The API server sets that time when it starts the
// response, so the latest time is the most accurate. A time before the estimate is ignored until mostDoubts responses
// in a row have one.
func (c *serverClock) recordDate(date time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	offset := date.Sub(c.local())
	switch {
	case !c.isKnown, offset > c.offset:
		c.offset, c.isKnown, c.doubts = offset, true, 0
	case offset >= c.offset-dateError:
		c.doubts = 0
	default:
		if c.doubts++; c.doubts >= mostDoubts {
			c.offset, c.doubts = offset, 0
		}
	}
}

// wrapTransport returns a transport that passes the dates of its responses to the clock.
func (c *serverClock) wrapTransport(next http.RoundTripper) http.RoundTripper {
	return transport(func(request *http.Request) (*http.Response, error) {
		response, err := next.RoundTrip(request)
		if err != nil {
			return response, err
		}
		if date, err := http.ParseTime(response.Header.Get("Date")); err == nil {
			c.recordDate(date)
		}
		return response, nil
	})
}

// transport is a function that implements http.RoundTripper.
type transport func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (t transport) RoundTrip(request *http.Request) (*http.Response, error) { return t(request) }
