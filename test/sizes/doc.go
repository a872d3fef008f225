// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package sizes measures what a sidecar takes: it runs the Vector that the variable VECTOR
// names, as a process of this machine, with what the sidecar chart renders, log files that are
// written here, and stand-ins for collectors on the loopback. The table is that of
// docs/how-to/sidecar/sizing.md. It runs no container: what the kernel charges a container for is not seen.
package sizes
