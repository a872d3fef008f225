// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package docs tests README.md and docs/: it runs their commands, with a control plane if needed, and compares
// their paths, links, make targets, reasons, limits, examples and output with the repository. It does not check the
// prose.
package docs
