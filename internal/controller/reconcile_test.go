// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
)

// A webhook that answers as a conflict does is not taken for one for ever.
func TestOnlyConflictsAreTransientAndOnlySoOften(t *testing.T) {
	r := &Reconciler{memory: state.New(time.Now)}
	conflict := fmt.Errorf("writing ConfigMap shop/logs: %w", errors.Join(apply.ErrStale, errors.New("locked")))
	require.False(t, r.isTransient(logsOfShop, nil))
	require.False(t, r.isTransient(logsOfShop, errors.New("no")))
	tried := 0
	for ; r.isTransient(logsOfShop, conflict); tried++ {
		r.memory.Conflict(logsOfShop)
	}
	require.Equal(t, 8, tried)
	require.True(t, r.isTransient(auditOfShop, conflict), "another one has its own count")

	r.memory.NoConflict(logsOfShop)
	require.True(t, r.isTransient(logsOfShop, conflict))
}
