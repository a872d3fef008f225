// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package cli runs the kubectl plugin as people do, by kubectl and in scripts: on
// files, and on a control plane of its own with the operator at work. Every example
// of the plugin's help is in one of the scripts.
package cli
