// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package removal removes the sidecars that the operator injected. All removals plan the same write, which restores the
// manifest of the application owner. They differ only in their scope and pace:
//
//   - Remove removes one sidecar from one workload. The controller of leftovers calls it for sidecars that this
//     installation wrote for a VectorSidecar that does not exist. The finalizer of a VectorSidecar with deletionPolicy
//     Orphan calls it for a workload that only waits for the sidecar.
//   - Ejector removes everything from a cluster, with or without the operator. It also removes sidecars that only the list
//     in the pod template proves, because the user requests it.
//   - Strip removes sidecars from a manifest.
//   - BeforeUninstall deletes the VectorSidecars of an installation while the operator still runs. The operator removes the
//     sidecars within its rollout slots, by the decision about each deleted VectorSidecar.
package removal
