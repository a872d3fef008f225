// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package rollouts tests the operator with the controller of Argo Rollouts, on a separate
// control plane. It also tests the facts about Argo Rollouts that the operator relies on.
package rollouts
