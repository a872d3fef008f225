// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"golang.org/x/sync/semaphore"
)

const (
	// largestRequest is how many bytes a request may have: a VectorSidecar as it is and
	// as it was, each as large as etcd takes one, and what the API server says of both.
	largestRequest = 4 << 20
	// bytesAtOnce is how many bytes of requests may be at work, of which each counts for
	// leastBytes or more. A byte costs some ten while it is.
	bytesAtOnce = largestRequest
	leastBytes  = 64 << 10
	// mostWaiting is how many requests may wait for that, or be at work.
	mostWaiting = 200
	// patience is how long a request may take to be sent, and how long it waits for
	// others: the API server waits no longer for an answer.
	patience = 5 * time.Second
)

// Bounded bounds the memory that requests take, whoever sends them: before a request is
// read, it waits until there is room for it. It tells of each that it lets not in.
func Bounded(next http.Handler, reject func()) http.Handler {
	return &gate{next: next, reject: reject, room: semaphore.NewWeighted(bytesAtOnce), waiting: make(chan struct{}, mostWaiting), patience: patience}
}

// gate lets requests in.
type gate struct {
	next     http.Handler
	reject   func()
	room     *semaphore.Weighted
	waiting  chan struct{}
	patience time.Duration
}

// ServeHTTP implements http.Handler.
func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength > largestRequest {
		g.reject()
		http.Error(w, fmt.Sprintf("reading a request of %d bytes: it may have at most %d", r.ContentLength, largestRequest), http.StatusRequestEntityTooLarge)
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
