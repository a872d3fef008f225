// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package template

import "time"

// threadTime is the processor time of the calling thread, which is not known here.
func threadTime() time.Duration { return 0 }
