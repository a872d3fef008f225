// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"cmp"
	"fmt"
	"slices"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// CheckCleanup returns an error if Vector would remove files from a volume of the application, and
// the platform does not allow this for the kind of the volume. The names are the volumes from which
// Vector removes files. Volumes of the sidecar do not count, because they are not in the
// application's view.
func (p *Policy) CheckCleanup(application *workload.View, volumes []string) error {
	return p.CheckEach(func(rules *Policy) error {
		for _, name := range volumes {
			kind := volumeKind(application, name)
			if kind != "" && !slices.Contains(rules.Volumes.Cleanup, kind) {
				return fmt.Errorf("Vector would remove files from the workload's own volume %q, of kind %s; the platform allows %s (policy.volumes.cleanup)", name, kind, describeAllowed(rules.Volumes.Cleanup)) //nolint:staticcheck // a name
			}
		}
		return nil
	})
}

// volumeKind returns the kind of a volume of the application, as the API names it, "" if the
// application does not have the volume.
func volumeKind(application *workload.View, name string) string {
	if slices.Contains(application.Claims, name) {
		return "persistentVolumeClaim"
	}
	for _, volume := range application.ApplicationVolumes() {
		if volume.Name == name {
			return cmp.Or(volume.Kind, "emptyDir") // The API server sets this for a volume without a source.
		}
	}
	return ""
}
