// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package wire is a layer between a program and the API server that injects failures: of the network, the server's
// answers, the watches, and the program itself. It numbers the program's writes, so that a fault can be set at each
// of them. It does not depend on the operator.
package wire
