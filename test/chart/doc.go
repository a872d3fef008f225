// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package chart tests the installation chart in chart/ with every values file in values/ and on a real API server.
// The suites in chart/tests test what each template renders.
package chart
