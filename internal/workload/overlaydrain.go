// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// DrainSeconds returns the longest preStop sleep of the overlay's containers, 0 if there is none.
func (o *Overlay) DrainSeconds() int64 {
	longest := int64(0)
	for container := range o.containers() {
		longest = max(longest, sleepOf(container))
	}
	return longest
}

// Draining returns a copy of the overlay in which no preStop sleep is longer than most seconds;
// with 0 there is none.
func (o *Overlay) Draining(most int64) (*Overlay, error) {
	cut := *o
	cut.Template, cut.Body = *o.Template.DeepCopy(), runtime.DeepCopyJSON(o.Body)
	for c := range cut.containers() {
		switch {
		case sleepOf(c) <= most:
		case most > 0:
			c.Lifecycle.PreStop.Sleep.Seconds = most
		case c.Lifecycle.PostStart == nil && c.Lifecycle.StopSignal == nil:
			c.Lifecycle = nil
		default:
			c.Lifecycle.PreStop = nil
		}
	}
	pod := tree.Map(cut.Body["spec"])
	for _, list := range []string{"initContainers", "containers"} {
		for _, container := range tree.List(pod[list]) {
			cutSleep(tree.Map(container), most)
		}
	}
	canonical, err := json.Marshal(cut.Body)
	if err != nil {
		return nil, fmt.Errorf("writing the overlay: %w", err)
	}
	return &cut, cut.seal(canonical)
}

// cutSleep is Draining for a container of the applied body.
func cutSleep(container map[string]any, most int64) {
	lifecycle := tree.Map(container["lifecycle"])
	sleep := tree.At(lifecycle, "preStop", "sleep")
	if seconds, _ := sleep["seconds"].(float64); int64(seconds) <= most {
		return
	}
	if most > 0 {
		sleep["seconds"] = float64(most)
		return
	}
	if delete(lifecycle, "preStop"); len(lifecycle) == 0 {
		delete(container, "lifecycle")
	}
}

// sleepOf returns the preStop sleep of a container in seconds.
func sleepOf(c *corev1.Container) int64 {
	if c.Lifecycle == nil || c.Lifecycle.PreStop == nil || c.Lifecycle.PreStop.Sleep == nil {
		return 0
	}
	return c.Lifecycle.PreStop.Sleep.Seconds
}
