// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// DrainSeconds is the longest that a container of the overlay sleeps before it is told
// to stop; 0 if none does.
func (o *Overlay) DrainSeconds() int64 {
	longest := int64(0)
	each(&o.Template.Spec, func(_ string, c *corev1.Container) { longest = max(longest, sleepOf(c)) })
	return longest
}

// Draining returns the overlay with no container that sleeps for longer than so many
// seconds before it is told to stop; with 0 none sleeps. The overlay itself stays as
// it is.
func (o *Overlay) Draining(most int64) (*Overlay, error) {
	cut := *o
	cut.Template, cut.Body = *o.Template.DeepCopy(), runtime.DeepCopyJSON(o.Body)
	each(&cut.Template.Spec, func(_ string, c *corev1.Container) {
		switch {
		case sleepOf(c) <= most:
		case most > 0:
			c.Lifecycle.PreStop.Sleep.Seconds = most
		case c.Lifecycle.PostStart == nil && c.Lifecycle.StopSignal == nil:
			c.Lifecycle = nil
		default:
			c.Lifecycle.PreStop = nil
		}
	})
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

// cutSleep is Draining for a container as it is applied.
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

// sleepOf is how long a container sleeps before it is told to stop.
func sleepOf(c *corev1.Container) int64 {
	if c.Lifecycle == nil || c.Lifecycle.PreStop == nil || c.Lifecycle.PreStop.Sleep == nil {
		return 0
	}
	return c.Lifecycle.PreStop.Sleep.Seconds
}
