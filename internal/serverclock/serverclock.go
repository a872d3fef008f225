// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package serverclock estimates the time of the API server, which writes the times in objects and their conditions.
//
//	the dates of responses and the clock of this machine – the time of the API server
package serverclock

import (
	"net/http"
	"sync"
	"time"
)

// Clock estimates the time of the API server. Soaks and windows must not depend on the clock of the operator's node or
// of a user's machine. Every response of the API server contains its time in whole seconds, and the clock of the
// process measures the time since then. The operator renews its Lease every few seconds, so there is always a recent
// response.
type Clock struct {
	local func() time.Time

	mu sync.Mutex
	// offset is the difference between the clock of the API server and the clock of the process. It is 0 until a
	// response proves another value, so two correct clocks never differ here because dates are in whole seconds.
	offset time.Duration
}

// dateResolution is the resolution of the date in a response, which is truncated.
const dateResolution = time.Second

// New returns a clock based on the clock of the process, nil for time.Now.
func New(local func() time.Time) *Clock {
	if local == nil {
		local = time.Now
	}
	return &Clock{local: local}
}

// Now returns the API server's time. Before the first response, it returns the time of the process.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.local().Add(c.offset)
}

// recordDate makes the smallest correction that agrees with the date in a response. The API server read its clock
// between the time when the process sent the request and the time when it received the response.
func (c *Clock) recordDate(date, sent, received time.Time) {
	least, most := date.Sub(received), date.Add(dateResolution).Sub(sent)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offset = min(max(c.offset, least), most)
}

// WrapTransport returns a transport that passes the dates of its responses to the clock.
func (c *Clock) WrapTransport(next http.RoundTripper) http.RoundTripper {
	return transport(func(request *http.Request) (*http.Response, error) {
		sent := c.local()
		response, err := next.RoundTrip(request)
		if err != nil {
			return response, err
		}
		if date, err := http.ParseTime(response.Header.Get("Date")); err == nil {
			c.recordDate(date, sent, c.local())
		}
		return response, nil
	})
}

// transport is a function that implements http.RoundTripper.
type transport func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (t transport) RoundTrip(request *http.Request) (*http.Response, error) { return t(request) }
