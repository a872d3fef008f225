// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package process tests the operator as a process, on a real API server: who leads,
// how it stops, what it logs, traces, measures and reports, and what it sees. What
// it does to workloads is for the other packages.
package process
