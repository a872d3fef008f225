// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package chart holds the installation chart in chart/ against every values file
// in values/ and against a real API server. What a single template renders is
// told by the suites in chart/tests.
package chart
