// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/x509"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The program trusts public certificate authorities if the system has no files with CA certificates, as in the image.
// The test starts itself as a child process without such files, because a process reads the certificates only once.
func TestMain_TrustsPublicAuthoritiesWithoutFiles(t *testing.T) {
	const inside = "TEST_WITHOUT_AUTHORITIES"
	if os.Getenv(inside) == "" {
		none := filepath.Join(t.TempDir(), "none")
		again := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
		again.Env = append(os.Environ(), inside+"=true", "SSL_CERT_FILE="+none, "SSL_CERT_DIR="+none)
		out, err := again.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return
	}
	roots, err := x509.SystemCertPool()
	require.NoError(t, err)
	require.NotEmpty(t, roots.Subjects()) //nolint:staticcheck // it is complete on Linux
}
