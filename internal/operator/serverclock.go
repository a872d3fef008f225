// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"net/http"
	"sync"
	"time"
)

// serverClock estimates the API server's time, which dates workloads and their conditions. Soaks
// and windows must not depend on the clock of the operator's node. Every response of the API server
// has a date in whole seconds, and the clock of the process measures the time since then. The
// lease's renewals bring a response every few seconds.
type serverClock struct {
	local func() time.Time

	mu sync.Mutex
	// offset is the offset of the API server's clock from the clock of the process.
	offset time.Duration
	// isKnown is true after the first response. doubts counts consecutive responses that are behind
	// the estimate.
	isKnown bool
	doubts  int
}

const (
	// dateError is the normal delay of a date in a response at most: the date is truncated to the second, and a
	// response takes some time.
	dateError = 2 * time.Second
	// mostDoubts is the number of consecutive responses behind the estimate after which the API server's clock counts
	// as set back.
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

// recordDate corrects the clock by the date of a response. The date is the time when the API server started its
// response, so the latest date is the most accurate. An earlier date counts only after mostDoubts responses in a row,
// because the API server's clock was then set back.
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
