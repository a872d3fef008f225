// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/election"
)

// A failed request is retried after a backoff, not in each reconcile. A request for another revision starts at once.
func TestRevisionRequest_RetriesWithBackoff(t *testing.T) {
	now, requests, response := time.Now(), 0, errors.New("no permission")
	r := revisionRequest{name: "storing", options: &Options{Backoff: state.NewBackoff(), Clock: func() time.Time { return now }}}
	try := func(revision string) error {
		return r.attemptRequest(t.Context(), revision, func() error {
			requests++
			return response
		})
	}
	for i, wait := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second} {
		require.ErrorIs(t, try("a"), response)
		require.Equal(t, wait, r.failed.Until.Sub(now))
		now = now.Add(wait - time.Millisecond)
		require.ErrorIs(t, try("a"), response)
		require.Equal(t, i+1, requests, "the wait is not over")
		now = now.Add(time.Millisecond)
	}
	require.ErrorIs(t, try("b"), response)
	require.Equal(t, time.Second, r.failed.Until.Sub(now))

	response, now = election.ErrNotLeading, now.Add(time.Second)
	require.ErrorIs(t, try("b"), election.ErrNotLeading)
	require.Equal(t, time.Second, r.options.Backoff.Last(state.RetryRevision, "storing"), "only the leader counts failures")

	response = nil
	require.NoError(t, try("b"))
	require.Zero(t, r.options.Backoff.Last(state.RetryRevision, "storing"))
}
