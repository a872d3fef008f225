// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// readAccounts returns a ServiceAccount, and counts the requests.
type readAccounts struct {
	client.Reader

	has  string
	asks int
}

func (r *readAccounts) Get(_ context.Context, _ client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	r.asks++
	into.(*corev1.ServiceAccount).ImagePullSecrets = []corev1.LocalObjectReference{{Name: r.has}}
	return nil
}

// A ServiceAccount is read only if a decision needs it and the operator has the permission, and again after accountAge.
func TestAccounts_ReadsServiceAccountsOnDemand(t *testing.T) {
	live, name, now := &readAccounts{has: "apps"}, types.NamespacedName{Namespace: "shop", Name: "cart"}, time.Now()
	known := newAccounts(live, true)
	known.now = func() time.Time { return now }
	for range 3 {
		found, err := known.GetServiceAccount(t.Context(), name)
		require.NoError(t, err)
		require.Equal(t, []string{"apps"}, found.PullSecrets)
	}
	require.Equal(t, 1, live.asks)

	live.has = "mirror"
	found, err := known.GetServiceAccount(t.Context(), name)
	require.NoError(t, err)
	require.Equal(t, []string{"apps"}, found.PullSecrets)
	now = now.Add(accountAge)
	found, err = known.GetServiceAccount(t.Context(), name)
	require.NoError(t, err)
	require.Equal(t, []string{"mirror"}, found.PullSecrets, "it was read again")
	require.Equal(t, 2, live.asks)

	now = now.Add(25 * accountAge)
	_, err = known.GetServiceAccount(t.Context(), types.NamespacedName{Namespace: "pay", Name: "cart"})
	require.NoError(t, err)
	require.NotContains(t, known.read, name, "no decision has needed it for long")
	require.Equal(t, 3, live.asks)

	found, err = newAccounts(live, false).GetServiceAccount(t.Context(), name)
	require.NoError(t, err)
	require.Equal(t, "the operator has no permission to read the ServiceAccount", found.Unread)
	require.Equal(t, 3, live.asks)
}
