// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vectorconfig

import (
	"maps"
	"slices"
)

// Intake is what a configuration takes in.
type Intake struct {
	// Files are the patterns of the files that it reads, sorted.
	Files []string
	// Other tells that it listens, asks or makes up events: that it has a
	// source beside files and Vector's own logs and metrics.
	Other bool
}

// IntakeOf returns what a configuration takes in. One that cannot be read takes
// in nothing; Check says why.
func IntakeOf(file, text string) Intake {
	config, err := parse(file, text)
	if err != nil {
		return Intake{}
	}
	var intake Intake
	_, intake.Other = config["provider"] // Who knows what that gives.
	for _, source := range components(config, "sources") {
		options, _ := source.(map[string]any)
		switch options["type"] {
		case "internal_metrics", "internal_logs":
		case "file":
			patterns, _ := options["include"].([]any)
			for _, pattern := range patterns {
				if text, ok := pattern.(string); ok {
					intake.Files = append(intake.Files, text)
				}
			}
		default:
			intake.Other = true
		}
	}
	intake.Files = slices.Compact(slices.Sorted(slices.Values(intake.Files)))
	return intake
}

// Add returns what two configurations take in together.
func (i Intake) Add(other Intake) Intake {
	files := map[string]bool{}
	for _, file := range slices.Concat(i.Files, other.Files) {
		files[file] = true
	}
	return Intake{Files: slices.Sorted(maps.Keys(files)), Other: i.Other || other.Other}
}
