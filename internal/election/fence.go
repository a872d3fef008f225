// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package election

import (
	"errors"
	"net/http"
	"strings"
)

// ErrNotLeading means that a write was blocked, because this operator does not hold the lease, or cannot be sure to
// hold it.
var ErrNotLeading = errors.New("operator lost the leadership")

// Fence blocks writes of an operator that does not hold the lease. A process that was frozen
// and resumes would otherwise continue before it notices that another one leads. Reads,
// reviews and events pass, because standby replicas need them.
func (l *Lock) Fence(next http.RoundTripper) http.RoundTripper { return &fence{l, next} }

// fence sends writes only while the lock is held.
type fence struct {
	lock *Lock
	next http.RoundTripper
}

// RoundTrip sends a request, or returns ErrNotLeading.
func (f *fence) RoundTrip(request *http.Request) (*http.Response, error) {
	if !isWrite(request) || f.lock.isLeading() {
		return f.next.RoundTrip(request)
	}
	if request.Body != nil {
		_ = request.Body.Close() // A RoundTripper must always close it.
	}
	return nil, ErrNotLeading
}

// WrappedRoundTripper returns the wrapped transport, in which client-go cancels requests.
func (f *fence) WrappedRoundTripper() http.RoundTripper { return f.next }

// isWrite reports whether a request is blocked without the lease: every request except reads, authentication and
// authorization reviews, and events.
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

// isEvent reports whether a path belongs to events, for example /api/v1/namespaces/shop/events.
func isEvent(path string) bool {
	_, inNamespace, _ := strings.Cut(path, "/namespaces/")
	_, resource, _ := strings.Cut(inNamespace, "/")
	return resource == "events" || strings.HasPrefix(resource, "events/")
}
