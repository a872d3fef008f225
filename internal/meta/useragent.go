// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package meta

import (
	"fmt"
	"runtime"
)

// UserAgent returns the user agent by which an API server knows one of the project's
// programs, in its audit log for instance.
func UserAgent(program, version string) string {
	return fmt.Sprintf("%s/%s (%s/%s)", program, version, runtime.GOOS, runtime.GOARCH)
}
