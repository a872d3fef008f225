// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
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

// sharedBy returns the key of a request without its target and its namespace.
func sharedBy(request *render.Request) []byte {
	// Values are JSON, which always marshals with sorted keys.
	text, _ := json.Marshal([]any{
		request.Chart.Digest, request.Values.Tree, request.Sidecar.Name, request.KubeVersion, request.Cluster, request.Predecessor,
	})
	sum := sha256.Sum256(text)
	return sum[:]
}

// execute renders for one target, or takes what another namespace has rendered from the same. The
// execution is nil if it is for this namespace alone.
func (r *renderer) execute(ctx context.Context, request render.Request) (*render.Result, *execution, error) {
	namespace := request.Sidecar.Namespace
	if found := r.cache.executed(r.shared, request.Target); found != nil {
		return found.result.In(namespace), found, nil
	}
	end := r.observer.begin(ctx, Render)
	result, err := render.Render(ctx, request)
	end(err)
	if err != nil || !result.IsForAll || r.cache == nil {
		return result, nil, err
	}
	fresh := &execution{result: result, made: map[string]*sharedDesired{}}
	r.cache.keepExecuted(r.shared, request.Target, fresh)
	return result.In(namespace), fresh, nil // Its companions are changed.
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

// executed returns what was rendered from the same for a target like this one, nil if nothing was.
func (c *Cache) executed(shared []byte, target *workload.View) *execution {
	if c == nil {
		return nil
	}
	for _, reads := range c.readBy(shared) {
		if found := remembered(c, c.executions, target.AppendReads(slices.Clone(shared), reads)); found != nil {
			return found
		}
	}
	return nil
}

// keepExecuted is what executed returns from now on.
func (c *Cache) keepExecuted(shared []byte, target *workload.View, fresh *execution) {
	reads := c.noteRead(shared, fresh.result.ReadTarget)
	// What is made from it takes about as much again.
	remember(c, c.executions, target.AppendReads(slices.Clone(shared), reads), fresh, 2*bounded.Footprint(fresh.result))
}
