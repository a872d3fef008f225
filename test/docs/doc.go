// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package docs keeps README.md and docs/ true: it runs the commands that they
// show, on a control plane of its own where they need one, and holds the paths,
// links, make targets, reasons, limits, examples and output in them against the
// repository. Whether the prose is right is for people to say.
package docs
