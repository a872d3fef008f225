// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package rollouts states what Argo Rollouts does with a sidecar, with its controller and on a
// control plane of its own. The operator does not know the kind yet.
package rollouts
