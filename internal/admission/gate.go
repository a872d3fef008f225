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
	// each as large as etcd accepts one, and what the API server adds.
	largestRequest = 4 << 20
	// bytesAtOnce is how many bytes of requests may be in progress; each request counts as at least
	// leastBytes. A byte takes roughly ten bytes of memory meanwhile.
	bytesAtOnce = largestRequest
	leastBytes  = 64 << 10
	// bytesPerSecond is the rate limit for clients that have not proven to be the API server,
	// bytesInOneGo its burst; each request counts as at least leastPaced. It leaves the processor
	// to the controller, which runs in the same process.
	bytesPerSecond = 4 << 20
	bytesInOneGo   = 2 * largestRequest
	leastPaced     = 8 << 10
	// mostWaiting is how many requests may wait or be in progress.
	mostWaiting = 200
	// patience is the timeout for reading a request and for waiting for others. The API server
	// waits no longer for an answer.
	patience = 5 * time.Second
)

// Bounded bounds the memory of all requests, and the processor time of those that are not proven to
// be the API server's: before a request is read, it waits for room and for the rate limit. It calls
// reject for each request that it turns away.
func Bounded(next http.Handler, isProven func(*http.Request) bool, reject func()) http.Handler {
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
	if size < 0 { // It has no Content-Length.
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
	// While there is room, requests are answered even during shutdown.
	if !g.room.TryAcquire(size) && g.room.Acquire(ctx, size) != nil {
		g.reject()
		http.Error(w, "too many large requests at once", http.StatusTooManyRequests)
		return
	}
	defer g.room.Release(size)
	body := &body{ReadCloser: http.MaxBytesReader(w, r.Body, largestRequest), connection: http.NewResponseController(w)}
	body.within(time.Now().Add(g.patience))
	r.Body = body
	g.next.ServeHTTP(w, r)
}

// isTurn waits until the rate limit allows so many bytes, and reports whether that was soon enough.
// A request that would wait too long waits all the same, because a client that is turned away at
// once retries at once.
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

func (b *body) within(deadline time.Time) {
	_ = b.connection.SetReadDeadline(deadline) // Every connection of a server supports it.
}

// Read implements io.Reader.
func (b *body) Read(into []byte) (int, error) {
	n, err := b.ReadCloser.Read(into)
	if errors.Is(err, io.EOF) {
		b.within(time.Time{}) // The answer may take longer.
	}
	return n, err
}
