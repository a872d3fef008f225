// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package cli runs the kubectl plugin as users do, with kubectl and in scripts: on files, and on a control plane
// with a running operator. The scripts contain every example of the plugin's help.
package cli
