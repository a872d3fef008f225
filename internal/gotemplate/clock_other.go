// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package gotemplate

import "time"

// threadTime returns 0: the processor time of a thread is unknown on this platform.
func threadTime() time.Duration { return 0 }
