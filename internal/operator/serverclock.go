// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"net/http"
	"sync"
	"time"
)

// serverClock tells the API server's time, by which workloads and their conditions are
// dated: soaks and windows must not depend on the clock of the node that the operator runs
// on. Every answer of the API server has a date in whole seconds; the process's own clock
// measures what has passed since. The lease's renewals bring an answer every few seconds.
type serverClock struct {
	own func() time.Time

	mu sync.Mutex
	// ahead is how far the API server's clock is ahead of the process's.
	ahead time.Duration
	// isKnown is set once there was an answer, doubts counts answers in a row that are
	// behind what is told.
	isKnown bool
	doubts  int
}

const (
	// dateError is how far a date may be behind: it is cut to the second, and an answer
	// takes a while.
	dateError = 2 * time.Second
	// mostDoubts is after how many answers that are further behind the clock was put back.
	mostDoubts = 3
)

// newServerClock returns a clock beside the process's own, nil for time.Now.
func newServerClock(own func() time.Time) *serverClock {
	if own == nil {
		own = time.Now
	}
	return &serverClock{own: own}
}

// now returns the API server's time, the process's own before the first answer.
func (c *serverClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.own().Add(c.ahead)
}

// see takes the date of an answer. It is the time at which the API server began to answer,
// so that the latest of all dates is the nearest.
func (c *serverClock) see(date time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ahead := date.Sub(c.own())
	switch {
	case !c.isKnown, ahead > c.ahead:
		c.ahead, c.isKnown, c.doubts = ahead, true, 0
	case ahead >= c.ahead-dateError:
		c.doubts = 0
	default:
		if c.doubts++; c.doubts >= mostDoubts {
			c.ahead, c.doubts = ahead, 0
		}
	}
}

// through returns a transport whose answers the clock sees.
func (c *serverClock) through(next http.RoundTripper) http.RoundTripper {
	return transport(func(request *http.Request) (*http.Response, error) {
		response, err := next.RoundTrip(request)
		if err != nil {
			return response, err
		}
		if date, err := http.ParseTime(response.Header.Get("Date")); err == nil {
			c.see(date)
		}
		return response, nil
	})
}

type transport func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (t transport) RoundTrip(request *http.Request) (*http.Response, error) { return t(request) }
