// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package meta

// VariableDrainSeconds is the environment variable of a container with the number of seconds for which the
// container delays the termination of the native sidecars before it at most. See cmd/drain-gate.
const VariableDrainSeconds = "VECTORSIDECAR_DRAIN_SECONDS"
