// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package removal removes the sidecars that the operator injected. Strip removes them from a manifest and
// Ejector from a cluster, both without the operator. BeforeUninstall removes them before the release of an
// installation is uninstalled, while the operator still runs.
package removal
