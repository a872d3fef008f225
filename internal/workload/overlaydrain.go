// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"encoding/json"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// DrainSeconds returns the longest time in seconds for which a container of the overlay delays its termination,
// or 0 for none. The delay is a preStop sleep or the time of a drain gate.
func (o *Overlay) DrainSeconds() int64 {
	longest := int64(0)
	for container := range o.containers() {
		longest = max(longest, preStopSleep(container), GateSeconds(container))
	}
	return longest
}

// WithDrainLimit returns a copy of the overlay in which preStop sleeps and drain gates take at most maxSeconds. A drain
// gate is a container that delays the termination until Vector has sent its events. If maxSeconds is 0, preStop sleeps
// are removed.
func (o *Overlay) WithDrainLimit(maxSeconds int64) (*Overlay, error) {
	cut := *o
	cut.Template, cut.Body = *o.Template.DeepCopy(), runtime.DeepCopyJSON(o.Body)
	for c := range cut.containers() {
		if GateSeconds(c) > maxSeconds {
			drainGate(c).Value = strconv.FormatInt(maxSeconds, 10)
		}
		switch {
		case preStopSleep(c) <= maxSeconds:
		case maxSeconds > 0:
			c.Lifecycle.PreStop.Sleep.Seconds = maxSeconds
		case c.Lifecycle.PostStart == nil && c.Lifecycle.StopSignal == nil:
			c.Lifecycle = nil
		default:
			c.Lifecycle.PreStop = nil
		}
	}
	pod := tree.Map(cut.Body["spec"])
	for _, list := range []string{"initContainers", "containers"} {
		for _, container := range tree.List(pod[list]) {
			limitSleep(tree.Map(container), maxSeconds)
			limitGate(tree.Map(container), maxSeconds)
		}
	}
	canonical, err := json.Marshal(cut.Body)
	if err != nil {
		return nil, fmt.Errorf("encoding the overlay: %w", err)
	}
	return &cut, cut.setHash(canonical)
}

// limitSleep limits the preStop sleep of a container in Body.
func limitSleep(container map[string]any, maxSeconds int64) {
	lifecycle := tree.Map(container["lifecycle"])
	sleep := tree.MapAt(lifecycle, "preStop", "sleep")
	if seconds, _ := sleep["seconds"].(float64); int64(seconds) <= maxSeconds {
		return
	}
	if maxSeconds > 0 {
		sleep["seconds"] = float64(maxSeconds)
		return
	}
	if delete(lifecycle, "preStop"); len(lifecycle) == 0 {
		delete(container, "lifecycle")
	}
}

// limitGate limits the environment variable of a drain gate in Body.
func limitGate(container map[string]any, maxSeconds int64) {
	for _, item := range tree.List(container["env"]) {
		variable := tree.Map(item)
		if text, _ := variable["value"].(string); variable["name"] == meta.VariableDrainSeconds && parseSeconds(text) > maxSeconds {
			variable["value"] = strconv.FormatInt(maxSeconds, 10)
		}
	}
}

// preStopSleep returns the preStop sleep of a container in seconds, or 0 for none.
func preStopSleep(c *corev1.Container) int64 {
	if c.Lifecycle == nil || c.Lifecycle.PreStop == nil || c.Lifecycle.PreStop.Sleep == nil {
		return 0
	}
	return c.Lifecycle.PreStop.Sleep.Seconds
}

// GateSeconds returns the number of seconds for which a drain gate delays the termination of the native
// sidecars that precede it. It returns 0 for other containers.
func GateSeconds(c *corev1.Container) int64 {
	if variable := drainGate(c); variable != nil {
		return parseSeconds(variable.Value)
	}
	return 0
}

// drainGate returns the environment variable that makes a container a drain gate, or nil for other containers.
func drainGate(c *corev1.Container) *corev1.EnvVar {
	for i := range c.Env {
		if c.Env[i].Name == meta.VariableDrainSeconds {
			return &c.Env[i]
		}
	}
	return nil
}

// parseSeconds parses a number of seconds. It returns 0 for text that is not a number.
func parseSeconds(text string) int64 {
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return seconds
}
