// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vectorconfig

import "slices"

// Intake is what a configuration takes in.
type Intake struct {
	// Files are the patterns of the files that it reads, sorted.
	Files []string
	// Other tells that it listens, asks or makes up events: that it has a
	// source beside files and Vector's own logs and metrics.
	Other bool
}

// intakeOf returns what a configuration takes in, as far as it can be read.
func intakeOf(root *value) Intake {
	intake := Intake{Other: root.has("provider")} // Who knows what that gives.
	for _, e := range root.get("sources").entries {
		switch e.value.get("type").scalar {
		case "internal_metrics", "internal_logs":
		case "file":
			for _, pattern := range e.value.get("include").items {
				if pattern.form == text {
					intake.Files = append(intake.Files, pattern.scalar)
				}
			}
		default:
			intake.Other = true
		}
	}
	slices.Sort(intake.Files)
	intake.Files = slices.Compact(intake.Files)
	return intake
}
