// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package rollouts tests the operator beside Argo Rollouts, with its controller and on a
// control plane of its own, and states the facts that this rests on.
package rollouts
