// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package demo tests the demo on a real node. The test is skipped if a real node is not possible: see package node.
// The demo itself is in test/demo.
package demo
