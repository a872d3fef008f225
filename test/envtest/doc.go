// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package envtest tests the operator against a real API server, with the real controllers and simulated nodes.
// Parallel tests share one operator and its installation, do not change them, and are part of make test. Tests that
// stop the operator or change the installation run alone, and are part of make test-integration.
package envtest
