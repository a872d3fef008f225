// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package meta

import (
	"fmt"
	"runtime"
)

// UserAgent is by which name and version a program of ours is known to an API server, in
// its audit log for instance.
func UserAgent(program, version string) string {
	return fmt.Sprintf("%s/%s (%s/%s)", program, version, runtime.GOOS, runtime.GOARCH)
}
