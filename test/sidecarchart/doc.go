// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package sidecarchart holds the chart in the root of the repository against Helm
// itself, against its own schema, and against the fields of a VectorSidecar. What
// a single template renders is told by the suites beside this file.
package sidecarchart
