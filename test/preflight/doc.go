// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package preflight is the operator with preflight on a real API server: what refuses pods there refuses
// the sidecar before it is written.
package preflight
