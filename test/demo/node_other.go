// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package main

import "os"

func onNode(func(*realNode) int) int {
	_, _ = os.Stderr.WriteString("a real node needs Linux\n")
	return 1
}
