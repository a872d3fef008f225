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

// Interruption is a connection to the API server. While IsOn is true, it calls Do right before each write of a path.
// The API server answers the write.
type Interruption struct {
	// Path is the suffix of the paths of matching requests.
	Path string
	// Do is called before the write is sent. If it returns an error, the write is not sent.
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

// Codes returns the distinct status codes of the answers to interrupted writes.
func (i *Interruption) Codes() []int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Compact(slices.Sorted(slices.Values(i.codes)))
}
