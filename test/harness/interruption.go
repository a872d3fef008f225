// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Interruption is a way to the API server on which something else happens right before each write to a path, as long as
// it is on. The API server answers the write.
type Interruption struct {
	// Path is what the path of a request ends with.
	Path string
	// Do happens before the write is sent. If it returns an error, the write is not sent.
	Do   func(ctx context.Context) error
	IsOn atomic.Bool

	next  http.RoundTripper
	mu    sync.Mutex
	codes []int
}

func (i *Interruption) lead(next http.RoundTripper) { i.next = next }

// RoundTrip interrupts a write, and sends it.
func (i *Interruption) RoundTrip(r *http.Request) (*http.Response, error) {
	if !i.IsOn.Load() || r.Method == http.MethodGet || !strings.HasSuffix(r.URL.Path, i.Path) {
		return i.next.RoundTrip(r)
	}
	if err := i.Do(r.Context()); err != nil {
		return nil, err
	}
	response, err := i.next.RoundTrip(r)
	if err == nil {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.codes = append(i.codes, response.StatusCode)
	}
	return response, err
}

// Codes are the different status codes of the answers to interrupted writes.
func (i *Interruption) Codes() []int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Compact(slices.Sorted(slices.Values(i.codes)))
}
