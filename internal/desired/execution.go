// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"fmt"
	"sync"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// execution is what templates rendered that do not read the namespace, and what was made from it:
// all namespaces that render the same share it.
type execution struct {
	result *render.Result

	mu sync.Mutex
	// made are by the rest of what they are made from: nearly always one.
	made map[string]*sharedDesired
}

// sharedDesired is what is desired in several namespaces, and its size in bytes.
type sharedDesired struct {
	*plan.Desired

	bytes int
}

// desired returns what is desired of the overlay that was rendered, or an equal one of another
// namespace.
func (e *execution) desired(overlay *workload.Overlay, sidecar, container, version string, marks map[string]string) *sharedDesired {
	key := fmt.Sprintf("%q %q %q %q", sidecar, container, version, marks) // Maps are printed in the order of their keys.
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.made[key] == nil {
		fresh := plan.NewDesired(overlay, sidecar, container, version, marks)
		e.made[key] = &sharedDesired{fresh, bounded.Footprint(fresh)}
	}
	return e.made[key]
}
