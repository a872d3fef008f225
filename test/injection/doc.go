// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package injection tests that the API server injects sidecars by the chart's MutatingAdmissionPolicies and the
// OverlaySets that the operator writes.
package injection
