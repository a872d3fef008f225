// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package election

import (
	"errors"
	"net/http"
	"strings"
)

// ErrNotLeading says that a write was not made because the lease is over, or is not
// known to be this operator's at the moment.
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
