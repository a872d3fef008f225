// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package meta

// VariableDrainSeconds is an environment variable of the drain gate (cmd/drain-gate). It is the maximum number of
// seconds for which the drain gate delays the termination of the native sidecars that start before it.
const VariableDrainSeconds = "VECTORSIDECAR_DRAIN_SECONDS"
