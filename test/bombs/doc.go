// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package bombs tests that the operator stays within its memory limit with small inputs that grow when they are
// read. It runs the operator as a process with a real API server. It does not check the exact errors, but that they
// are short, and that other workloads are still injected.
package bombs
