// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package election

import (
	"errors"
	"net/http"
	"strings"
	"time"
)

// ErrNotLeading says that a write was not made because the lease is over.
var ErrNotLeading = errors.New("this operator does not lead any more")

// Fence keeps an operator from writing without the lease. A process that was frozen
// and wakes up would otherwise go on where it was, before it sees that another one
// leads. What only asks, and events, may pass: those that stand by ask, too.
func (l *Lock) Fence(next http.RoundTripper) http.RoundTripper { return &fence{l, next} }

// fence lets requests through while its lock is held.
type fence struct {
	lock *Lock
	next http.RoundTripper
}

// RoundTrip makes a request, or returns ErrNotLeading.
func (f *fence) RoundTrip(request *http.Request) (*http.Response, error) {
	if !isWrite(request) || f.lock.holds() {
		return f.next.RoundTrip(request)
	}
	if request.Body != nil {
		_ = request.Body.Close() // A RoundTripper must, whatever it returns.
	}
	return nil, ErrNotLeading
}

// WrappedRoundTripper lets client-go find what it may have to cancel.
func (f *fence) WrappedRoundTripper() http.RoundTripper { return f.next }

// holds tells whether nobody else can have the lease yet.
func (l *Lock) holds() bool {
	until := l.until.Load()
	return until != nil && l.now().Before(*until)
}

// held notes until when a record that was written secures the lease, if it was
// asked for at a time. Others count from when they see it, which is later.
func (l *Lock) held(holder string, asked time.Time, duration time.Duration) {
	until := asked.Add(duration)
	if holder != l.Identity() {
		until = time.Time{}
	}
	l.until.Store(&until)
}

func isWrite(request *http.Request) bool {
	if request.Method == http.MethodGet || request.Method == http.MethodHead {
		return false
	}
	for _, free := range []string{"/apis/authentication.k8s.io/", "/apis/authorization.k8s.io/"} {
		if strings.HasPrefix(request.URL.Path, free) {
			return false
		}
	}
	return !isEvent(request.URL.Path)
}

// isEvent tells whether a path is that of an event, as in
// /api/v1/namespaces/shop/events.
func isEvent(path string) bool {
	_, inNamespace, _ := strings.Cut(path, "/namespaces/")
	_, resource, _ := strings.Cut(inNamespace, "/")
	return resource == "events" || strings.HasPrefix(resource, "events/")
}
