// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A type with too many fields that are not data must be split.
func TestCrowdedTypes_AreNone(t *testing.T) {
	code, err := loaded()
	require.NoError(t, err)
	require.Empty(t, code.crowdedTypes())
}
