// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import "slices"

// Intake is the input of a configuration.
type Intake struct {
	// Files are the sorted patterns of the files that it reads.
	Files []string
	// Removed are the sorted patterns of the files that it removes after some time.
	Removed []string
	// HasOtherSources reports whether the configuration receives, polls or generates events: whether it has sources other than
	// files and Vector's own logs and metrics.
	HasOtherSources bool
}

// newIntake returns the intake of the parsed part of a configuration.
func newIntake(root *value) Intake {
	intake := Intake{HasOtherSources: root.hasKey("provider")} // Its configuration is unknown.
	for _, e := range root.get("sources").entries {
		switch e.value.get("type").scalar {
		case "internal_metrics", "internal_logs":
		case "file":
			for _, pattern := range e.value.get("include").items {
				if pattern.form != text {
					continue
				}
				intake.Files = append(intake.Files, pattern.scalar)
				if e.value.hasKey("remove_after_secs") {
					intake.Removed = append(intake.Removed, pattern.scalar)
				}
			}
		default:
			intake.HasOtherSources = true
		}
	}
	slices.Sort(intake.Files)
	intake.Files = slices.Compact(intake.Files)
	slices.Sort(intake.Removed)
	return intake
}
