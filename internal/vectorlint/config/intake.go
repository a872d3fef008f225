// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import "slices"

// Intake describes the events that a configuration reads.
type Intake struct {
	// Files are the sorted patterns of the files that the configuration reads.
	Files []string
	// Removed are the sorted patterns of the files that the configuration removes some time after it has read
	// them.
	Removed []string
	// HasOtherSources reports whether the configuration has sources other than files and Vector's own logs and
	// metrics. Such sources receive, poll or generate events.
	HasOtherSources bool
}

// newIntake returns the Intake of the sources of a parsed configuration.
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
