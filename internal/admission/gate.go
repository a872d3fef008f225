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
	// largestRequest is the maximum size of a request in bytes: the old and the new VectorSidecar,
	// each with the maximum size of etcd, and the additions of the API server.
	largestRequest = 4 << 20
	// bytesAtOnce is the maximum number of bytes of all requests in progress. Each request counts
	// as at least leastBytes. A byte uses about ten bytes of memory during the request.
	bytesAtOnce = largestRequest
	leastBytes  = 64 << 10
	// bytesPerSecond is the rate limit for clients that are not proven to be the API server.
	// bytesInOneGo is its burst. Each request counts as at least leastPaced. The limit leaves the
	// processor to the controller, which runs in the same process.
	bytesPerSecond = 4 << 20
	bytesInOneGo   = 2 * largestRequest
	leastPaced     = 8 << 10
	// mostWaiting is the maximum number of requests that wait or are in progress.
	mostWaiting = 200
	// patience is the timeout for reading a request and for waiting for others. The API server does
	// not wait longer for an answer.
	patience = 5 * time.Second
)

// LimitRequests limits the memory of all requests, and the processor time of requests that are not proven
// to be the API server's. A request waits for memory and for the rate limit before it is read.
// Bounded calls a function for each request that it rejects.
func LimitRequests(next http.Handler, isProven func(*http.Request) bool, reject func()) http.Handler {
	return &gate{
		next: next, isProven: isProven, reject: reject, waiting: make(chan struct{}, mostWaiting), patience: patience,
		room: semaphore.NewWeighted(bytesAtOnce), pace: rate.NewLimiter(bytesPerSecond, bytesInOneGo),
	}
}

// gate is the handler that Bounded returns.
type gate struct {
	next     http.Handler
	isProven func(*http.Request) bool
	reject   func()
	room     *semaphore.Weighted
	pace     *rate.Limiter
	waiting  chan struct{}
	patience time.Duration
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
		http.Error(w, "too many requests at once", http.StatusTooManyRequests)
		return
	}
	size := r.ContentLength
	if size < 0 { // The request has no Content-Length.
		size = largestRequest
	}
	ctx, cancel := context.WithTimeout(r.Context(), g.patience)
	defer cancel()
	if !g.isProven(r) && !g.isTurn(ctx, max(size, leastPaced)) {
		g.reject()
		http.Error(w, "too many bytes a second of callers without a client certificate", http.StatusTooManyRequests)
		return
	}
	size = max(size, leastBytes)
	// If enough memory is free, requests are answered even during shutdown.
	if !g.room.TryAcquire(size) && g.room.Acquire(ctx, size) != nil {
		g.reject()
		http.Error(w, "too many large requests at once", http.StatusTooManyRequests)
		return
	}
	defer g.room.Release(size)
	body := &body{ReadCloser: http.MaxBytesReader(w, r.Body, largestRequest), connection: http.NewResponseController(w)}
	body.setReadDeadline(time.Now().Add(g.patience))
	r.Body = body
	g.next.ServeHTTP(w, r)
}

// isTurn waits until the rate limit allows the bytes, and reports whether that happened before the
// deadline. A request that would wait too long waits until the deadline, because a client that is
// rejected at once retries at once.
func (g *gate) isTurn(ctx context.Context, size int64) bool {
	if g.pace.AllowN(time.Now(), int(size)) || g.pace.WaitN(ctx, int(size)) == nil {
		return true
	}
	<-ctx.Done()
	return false
}

// body is a request body with a read deadline.
type body struct {
	io.ReadCloser

	connection *http.ResponseController
}

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
