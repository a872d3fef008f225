// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package arch holds the repository to its architecture: who may import whom,
// what every file says, which versions agree.
package arch
