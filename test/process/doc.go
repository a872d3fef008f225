// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package process tests the operator as a process on a real API server: leader election, stop, logs, traces, metrics
// and cache. Other packages test what the operator writes to workloads.
package process
