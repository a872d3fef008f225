// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package wire stands between a program and the API server and breaks what can break
// there: the network, the server's answers, the watches, and the program itself. It
// numbers the program's writes, so that a fault can be put at any one of them. It
// knows nothing of the operator.
package wire
