// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// ForTest starts a control plane that ends with the test. If the test fails, the logs are kept, and the test names
// their folder.
func ForTest(t testing.TB, options Options) *ControlPlane {
	t.Helper()
	c, err := Start(t.Context(), options)
	require.NoError(t, err)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the control plane's logs are kept in %s", c.keep())
		}
		require.NoError(t, c.Stop())
	})
	return c
}

// Main runs a package's tests on one shared control plane, for TestMain. It calls prepare with the control plane,
// to install CRDs for example, runs the tests, calls release unless that is nil, and stops the control plane. It
// returns the exit code.
func Main(m *testing.M, options Options, prepare func(*ControlPlane) (release func() error, err error)) int {
	c, err := Start(context.Background(), options)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := run(m, c, prepare)
	if code != 0 {
		fmt.Fprintln(os.Stderr, "the control plane's logs are kept in", c.keep())
	}
	if err := c.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, "stopping the control plane:", err)
		return 1
	}
	return code
}

func run(m *testing.M, c *ControlPlane, prepare func(*ControlPlane) (func() error, error)) int {
	release, err := prepare(c)
	if err != nil {
		fmt.Fprintln(os.Stderr, "preparing the control plane:", err)
		return 1
	}
	code := m.Run()
	if release == nil {
		return code
	}
	if err := release(); err != nil {
		fmt.Fprintln(os.Stderr, "releasing the control plane:", err)
		return 1
	}
	return code
}
