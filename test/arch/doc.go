// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package arch tests the architecture of the repository: allowed imports, required parts of files, and equal
// versions.
package arch
