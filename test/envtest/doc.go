// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package envtest holds what only a real API server can show, with the real
// controllers and simulated nodes, for one operator that runs all the while.
package envtest
