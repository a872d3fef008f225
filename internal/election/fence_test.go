// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package election

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
)

// The client for the Lease has a short timeout. The passed config stays unchanged, because that timeout would end the
// watches of other clients.
func TestNew_DoesNotChangePassedConfig(t *testing.T) {
	config := &rest.Config{Host: "https://127.0.0.1:1", UserAgent: "operator"}
	before := rest.CopyConfig(config)

	_, err := New(config, Options{Namespace: "vector-system", Name: "operator", RenewDeadline: time.Second, RetryPeriod: time.Second})

	require.NoError(t, err)
	require.Equal(t, before, config)
}

// Without a valid Lease, the fence rejects writes before they are sent, and allows reads.
func TestFence_RejectsWritesWithoutLease(t *testing.T) {
	reached := 0
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached++ }))
	defer server.Close()
	now := time.Unix(1000, 0)
	lock, err := New(&rest.Config{Host: server.URL}, Options{Namespace: "vector-system", Name: "operator", RenewDeadline: time.Second, RetryPeriod: time.Second})
	require.NoError(t, err)
	lock.now = func() time.Time { return now }
	client := &http.Client{Transport: lock.Fence(http.DefaultTransport)}
	do := func(method, path string) error {
		request, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, http.NoBody)
		require.NoError(t, err)
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		return response.Body.Close()
	}
	const deployment = "/apis/apps/v1/namespaces/shop/deployments/cart"
	writes := func() error { return do(http.MethodPatch, deployment) }

	require.ErrorIs(t, writes(), ErrNotLeading, "it has never led")
	lock.recordHolder(lock.Identity(), now, 15*time.Second)
	require.NoError(t, writes())
	now = now.Add(14 * time.Second)
	require.NoError(t, writes())
	now = now.Add(time.Second)
	require.ErrorIs(t, writes(), ErrNotLeading, "it was frozen for as long")
	lock.recordHolder(lock.Identity(), now, 15*time.Second)
	lock.clearHolder()
	require.ErrorIs(t, writes(), ErrNotLeading, "a renewal was refused")
	lock.recordHolder(lock.Identity(), now, 15*time.Second)
	require.NoError(t, writes())
	lock.recordHolder("", now, time.Second)
	require.ErrorIs(t, writes(), ErrNotLeading, "it gave the lease back")
	require.ErrorIs(t, do(http.MethodDelete, deployment), ErrNotLeading)
	require.ErrorIs(t, do(http.MethodPost, "/api/v1/namespaces/shop/configmaps"), ErrNotLeading)
	require.ErrorIs(t, do(http.MethodPatch, "/apis/apps/v1/namespaces/events/deployments/events"), ErrNotLeading)

	lock.lose(errors.New("another one leads"))
	lock.recordHolder(lock.Identity(), now, 15*time.Second)
	require.ErrorIs(t, writes(), ErrNotLeading, "what is lost does not come back")

	reached = 0
	require.NoError(t, do(http.MethodGet, deployment))
	require.NoError(t, do(http.MethodPost, "/apis/authentication.k8s.io/v1/tokenreviews"))
	require.NoError(t, do(http.MethodPost, "/apis/authorization.k8s.io/v1/subjectaccessreviews"))
	require.NoError(t, do(http.MethodPost, "/apis/events.k8s.io/v1/namespaces/shop/events"))
	require.Equal(t, 4, reached, "asking and telling are free")
}
