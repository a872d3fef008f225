// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package bombs holds the operator to its limit of memory in the face of inputs that
// are small and grow when they are read: as a process, on a real API server. What exactly
// it says of each is not its business: that it says something short, and that others are
// served all the while, is.
package bombs
