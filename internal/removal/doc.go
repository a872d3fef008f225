// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package removal removes what the operator injected: from a manifest or a whole cluster,
// without the operator (Strip and Ejector), and from an installation before its release is
// uninstalled, with the operator still running (BeforeUninstall). It injects nothing.
package removal
