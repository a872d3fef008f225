// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// No type has more fields that are not data than the limit.
func TestCrowdedTypes_FindNone(t *testing.T) {
	code, err := loaded()
	require.NoError(t, err)
	require.Empty(t, code.crowdedTypes())
}
