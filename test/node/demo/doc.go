// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package demo has a test that plays the demo on a real node, and is skipped where there
// can be none: see package node. The demo itself is in test/demo.
package demo
