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
	// largestRequest is how many bytes a request may have: a VectorSidecar as it is and
	// as it was, each as large as etcd takes one, and what the API server says of both.
	largestRequest = 4 << 20
	// bytesAtOnce is how many bytes of requests may be at work, of which each counts for
	// leastBytes or more. A byte costs some ten while it is.
	bytesAtOnce = largestRequest
	leastBytes  = 64 << 10
	// bytesPerSecond is how many bytes of those may come who have not proven to be the API
	// server, of which each request counts for leastPaced or more, and bytesInOneGo how many
	// may come at once: so they leave the processor to the loop, who have it from there.
	bytesPerSecond = 4 << 20
	bytesInOneGo   = 2 * largestRequest
	leastPaced     = 8 << 10
	// mostWaiting is how many requests may wait for that, or be at work.
	mostWaiting = 200
	// patience is how long a request may take to be sent, and how long it waits for
	// others: the API server waits no longer for an answer.
	patience = 5 * time.Second
)

// Bounded bounds the memory that requests take, whoever sends them, and the processor time
// of those that are not proven to be the API server's: before a request is read, it waits
// until there is room for it, and until it is its turn. It tells of each that it lets not
// in.
func Bounded(next http.Handler, isProven func(*http.Request) bool, reject func()) http.Handler {
	return &gate{
		next: next, isProven: isProven, reject: reject, waiting: make(chan struct{}, mostWaiting), patience: patience,
		room: semaphore.NewWeighted(bytesAtOnce), pace: rate.NewLimiter(bytesPerSecond, bytesInOneGo),
	}
}

// gate lets requests in.
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
		http.Error(w, (&http.MaxBytesError{Limit: largestRequest}).Error(), http.StatusRequestEntityTooLarge) // As for one that does not tell.
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
	if size < 0 { // It does not tell.
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
	// Where there is room, also one that comes while the server stops gets its answer.
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

// isTurn waits until so many bytes may come, and reports whether that was soon enough. Who
// would wait for too long waits all the same: whoever is sent away at once is back at once.
func (g *gate) isTurn(ctx context.Context, size int64) bool {
	if g.pace.AllowN(time.Now(), int(size)) || g.pace.WaitN(ctx, int(size)) == nil {
		return true
	}
	<-ctx.Done()
	return false
}

// body is one that has to be sent within some time.
type body struct {
	io.ReadCloser

	connection *http.ResponseController
}

func (b *body) within(deadline time.Time) {
	_ = b.connection.SetReadDeadline(deadline) // Every connection of a server has one.
}

// Read implements io.Reader.
func (b *body) Read(into []byte) (int, error) {
	n, err := b.ReadCloser.Read(into)
	if errors.Is(err, io.EOF) {
		b.within(time.Time{}) // The answer may take longer.
	}
	return n, err
}
