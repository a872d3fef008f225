// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kontroloop.ai/vector-sidecar-operator/internal/apply"
)

// A webhook that answers as a conflict does is not asked twenty times a second.
func TestConflictsPassOnlySoOften(t *testing.T) {
	all, request := newConflicts(), reconcile.Request{NamespacedName: logsOfShop}
	conflict := fmt.Errorf("writing ConfigMap shop/logs: %w", errors.Join(apply.ErrStale, errors.New("locked")))
	require.False(t, all.pass(request, nil))
	require.False(t, all.pass(request, errors.New("no")))
	var waited, last time.Duration
	for all.pass(request, conflict) {
		wait := all.When(request)
		require.Greater(t, wait, last)
		waited, last = waited+wait, wait
	}
	require.InDelta(t, 13, waited.Seconds(), 3)
	require.True(t, all.pass(reconcile.Request{NamespacedName: auditOfShop}, conflict), "another one has its own count")

	all.Forget(request)
	require.True(t, all.pass(request, conflict))
	require.Equal(t, staleRetry, all.When(request))
}
