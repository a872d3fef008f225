// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package meta

import (
	"fmt"
	"runtime"
)

// UserAgent returns the user agent of one of the project's programs, which the API server records, for example
// in its audit log.
func UserAgent(program, version string) string {
	return fmt.Sprintf("%s/%s (%s/%s)", program, version, runtime.GOOS, runtime.GOARCH)
}
