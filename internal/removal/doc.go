// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package removal takes out what the operator put in: of a manifest or of a whole cluster,
// without the operator (Strip and Ejector), and of an installation before its release is
// uninstalled, with an operator that still runs (BeforeUninstall). It injects nothing.
package removal
