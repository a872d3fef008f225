// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package vector runs rendered configurations with a real Vector: the program that the
// variable VECTOR names, or the one in PATH. Where there is none, its tests are skipped.
// It runs no container and no kubelet; what a kubelet would ask is asked here.
package vector
