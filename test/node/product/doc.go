// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package product has tests of the product on a real node: installed by its chart from
// its own image, with pods that run. They print how many seconds things take, and are
// skipped where there can be no node: see package node.
package product
