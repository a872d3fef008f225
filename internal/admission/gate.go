// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"
)

const (
	// largestRequest is the maximum size of a request in bytes. A request contains the old and the new object,
	// each with up to the maximum size in etcd, and additions of the API server.
	largestRequest = 4 << 20
	// bytesAtOnce is the maximum size of all requests in progress, in bytes. A request counts as at least
	// leastBytes. Each byte uses about ten bytes of memory during the request.
	bytesAtOnce = largestRequest
	leastBytes  = 64 << 10
	// bytesPerSecond is the rate limit for clients that are not certainly the API server, and bytesInOneGo the burst of
	// that limit. A request counts as at least leastPaced bytes. The limit leaves processor time for the controllers in
	// the same process.
	bytesPerSecond = 4 << 20
	bytesInOneGo   = 2 * largestRequest
	leastPaced     = 8 << 10
	// mostWaiting is the maximum number of requests that are waiting or in progress.
	mostWaiting = 200
	// timeout is the maximum time for reading a request, and for waiting for other requests. The API server does not
	// wait longer for a response.
	timeout = 5 * time.Second
)

// LimitRequests returns a handler that limits the memory of all requests. It also limits the processor time of
// requests that do not certainly come from the API server. A request waits for memory and for the rate limit
// before its body is read. The handler calls reject for each request that it rejects.
func LimitRequests(next http.Handler, isProven func(*http.Request) bool, reject func()) http.Handler {
	return &gate{
		next: next, isProven: isProven, reject: reject, waiting: make(chan struct{}, mostWaiting), timeout: timeout,
		memory: semaphore.NewWeighted(bytesAtOnce), limiter: rate.NewLimiter(bytesPerSecond, bytesInOneGo),
	}
}

// gate is the handler that LimitRequests returns. It calls next for each request that it does not reject.
type gate struct {
	next http.Handler
	// isProven reports whether a request certainly comes from the API server.
	isProven func(*http.Request) bool
	// reject counts a rejected request.
	reject func()
	// memory is the memory for requests in progress, in bytes. limiter is the rate limit of the other clients, in bytes
	// per second. waiting has one item for each request that is waiting or in progress.
	memory  *semaphore.Weighted
	limiter *rate.Limiter
	waiting chan struct{}
	timeout time.Duration
}

// ServeHTTP implements http.Handler.
func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength > largestRequest {
		g.reject()
		http.Error(w, (&http.MaxBytesError{Limit: largestRequest}).Error(), http.StatusRequestEntityTooLarge) // The same error as for a request without Content-Length.
		return
	}
	select {
	case g.waiting <- struct{}{}:
		defer func() { <-g.waiting }()
	default:
		g.reject()
		http.Error(w, "too many requests at the same time; retry later", http.StatusTooManyRequests)
		return
	}
	size := r.ContentLength
	if size < 0 { // The request has no Content-Length.
		size = largestRequest
	}
	ctx, cancel := context.WithTimeout(r.Context(), g.timeout)
	defer cancel()
	if !g.isProven(r) && !g.acquireSlot(ctx, max(size, leastPaced)) {
		g.reject()
		http.Error(w, "too many bytes per second from clients without a certificate; retry later", http.StatusTooManyRequests)
		return
	}
	size = max(size, leastBytes)
	// If enough memory is free, requests are answered even during shutdown.
	if !g.memory.TryAcquire(size) && g.memory.Acquire(ctx, size) != nil {
		g.reject()
		http.Error(w, "too many large requests at the same time; retry later", http.StatusTooManyRequests)
		return
	}
	defer g.memory.Release(size)
	body := &body{ReadCloser: http.MaxBytesReader(w, r.Body, largestRequest), connection: http.NewResponseController(w)}
	body.setReadDeadline(time.Now().Add(g.timeout))
	r.Body = body
	g.next.ServeHTTP(w, r)
}

// acquireSlot waits until the rate limit allows a number of bytes, and returns true. If that takes longer than the
// deadline, it waits until the deadline and returns false. It does not return false at once, because the client would
// then also retry at once.
func (g *gate) acquireSlot(ctx context.Context, size int64) bool {
	if g.limiter.AllowN(time.Now(), int(size)) || g.limiter.WaitN(ctx, int(size)) == nil {
		return true
	}
	<-ctx.Done()
	return false
}

// body is a request body that must be read before a deadline.
type body struct {
	io.ReadCloser

	connection *http.ResponseController
}

// setReadDeadline sets the time after which reads of the body fail.
func (b *body) setReadDeadline(deadline time.Time) {
	_ = b.connection.SetReadDeadline(deadline) // Every connection of a server supports it.
}

// Read implements io.Reader.
func (b *body) Read(into []byte) (int, error) {
	n, err := b.ReadCloser.Read(into)
	if errors.Is(err, io.EOF) {
		b.setReadDeadline(time.Time{}) // The answer may take longer.
	}
	return n, err
}
