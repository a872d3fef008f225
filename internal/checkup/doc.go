// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package checkup checks whether an installation is healthy: from outside, with what a user
// may read of the cluster (Diagnosis), and from inside, for helm test (Test). It changes
// nothing.
package checkup
