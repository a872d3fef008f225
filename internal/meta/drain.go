// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package meta

// VariableDrainSeconds is the environment variable of a container that says for how many
// seconds at most it holds the end of the native sidecars before it back: see cmd/drain-gate.
const VariableDrainSeconds = "VECTORSIDECAR_DRAIN_SECONDS"
