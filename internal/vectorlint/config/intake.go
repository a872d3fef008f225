// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import "slices"

// Intake is what a configuration reads and receives.
type Intake struct {
	// Files are the sorted patterns of the files that it reads.
	Files []string
	// Removed are the sorted patterns of those that it removes some time.
	Removed []string
	// Other reports whether it receives, polls or generates events: whether it has a
	// source other than files and Vector's own logs and metrics.
	Other bool
}

// intakeOf returns the intake of a configuration, as far as it can be parsed.
func intakeOf(root *value) Intake {
	intake := Intake{Other: root.has("provider")} // Its configuration is unknown.
	for _, e := range root.get("sources").entries {
		switch e.value.get("type").scalar {
		case "internal_metrics", "internal_logs":
		case "file":
			for _, pattern := range e.value.get("include").items {
				if pattern.form != text {
					continue
				}
				intake.Files = append(intake.Files, pattern.scalar)
				if e.value.has("remove_after_secs") {
					intake.Removed = append(intake.Removed, pattern.scalar)
				}
			}
		default:
			intake.Other = true
		}
	}
	slices.Sort(intake.Files)
	intake.Files = slices.Compact(intake.Files)
	slices.Sort(intake.Removed)
	return intake
}
