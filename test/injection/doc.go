// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package injection is the API server injecting by the chart's MutatingAdmissionPolicies, with
// the operator that gives it what to inject.
package injection
