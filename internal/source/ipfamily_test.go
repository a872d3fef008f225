// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package source_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/internal/source"
)

func TestParseIPFamily_ReadsFamilyOfAddress(t *testing.T) {
	for host, family := range map[string]string{
		"10.96.0.1": "IPv4", "fd00:10::1": "IPv6", "::ffff:10.96.0.1": "IPv4",
		"kubernetes.default.svc": "", "": "", "10.96.0.1:443": "",
	} {
		require.Equal(t, family, source.ParseIPFamily(host), host)
	}
}
