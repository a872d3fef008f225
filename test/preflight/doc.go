// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package preflight tests preflight on a real API server: if the API server rejects pods with the sidecar, the
// operator does not write the sidecar.
package preflight
