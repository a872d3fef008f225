// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package faults sweeps scenarios for what breaks when something fails between two
// requests: each scenario runs once without a fault, and then once for every fault
// before and after every write of the operator, and has to end in the same state.
// What a scenario is to end in is not its business: that is what the run without a
// fault ended in, and what other packages assert.
package faults
