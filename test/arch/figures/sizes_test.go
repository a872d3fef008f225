// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A type with more parts that do something than this is several types.
func TestNoTypeIsMadeOfTooMuch(t *testing.T) {
	code, err := loaded()
	require.NoError(t, err)
	var found []figure
	for _, one := range code.sizeFigures() {
		if strings.Contains(one.name, "fields that are not data") {
			found = append(found, one)
		}
	}
	require.Len(t, found, 1)
	require.Equal(t, "none", found[0].value)
}
