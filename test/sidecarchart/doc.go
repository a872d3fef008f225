// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package sidecarchart compares the chart in the root of the repository with Helm, with the
// schema of the chart, and with the fields of a VectorSidecar. The test suites in this
// directory check the output of single templates.
package sidecarchart
