// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package checkup looks whether an installation is healthy: as a person sees it, with
// whatever of the cluster and the installation they may read (Diagnosis), and from inside,
// as helm test does after an installation (Test). It changes nothing, and does not judge
// what the operator does.
package checkup
