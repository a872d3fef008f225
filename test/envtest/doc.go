// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package envtest holds what only a real API server can show, with the real
// controllers and simulated nodes, for one operator. A test that runs in parallel
// leaves that and its installation as they are, and is part of make test. One that
// stops the operator, or changes what the installation gives it, runs alone, and
// is part of make test-integration.
package envtest
