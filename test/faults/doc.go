// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package faults tests failures between two requests. Each scenario runs once without a fault, and then once for
// every fault before and after every write of the operator. All runs must end in the state of the run without a
// fault. Other packages test which state that is.
package faults
