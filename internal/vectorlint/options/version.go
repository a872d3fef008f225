// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"fmt"
	"regexp"
	"strconv"
)

var release = regexp.MustCompile(`^v?0\.(\d{1,3})(?:\.\d{1,4})?$`)

// ParseMinor returns the minor version in a version such as 0.57, 0.57.0 or v0.57.0.
func ParseMinor(version string) (int, error) {
	match := release.FindStringSubmatch(version)
	if match == nil {
		return 0, fmt.Errorf("%q is not a valid version of Vector: write a version such as 0.%d.0", version, Newest)
	}
	minor, _ := strconv.Atoi(match[1]) // Three digits at most.
	return minor, nil
}
