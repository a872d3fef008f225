// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// rollouts records the names of all pod templates of a namespace's workloads. It records every write, also one that
// the workload's controller does not act on.
type rollouts struct {
	namespace string
	kind      *workload.Kind
	stop      context.CancelFunc

	mu        sync.Mutex
	templates map[string][]string
	versions  map[string]string
}

func countRollouts(ctx context.Context, namespace string, kind *workload.Kind) (*rollouts, error) {
	watching, err := client.NewWithWatch(world.Config, client.Options{Scheme: world.Client.Scheme()})
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	r := &rollouts{namespace: namespace, kind: kind, stop: stop, templates: map[string][]string{}, versions: map[string]string{}}
	go func() {
		for ctx.Err() == nil {
			r.follow(ctx, watching)
			_ = pause(ctx) // The end of the context ends the loop.
		}
	}()
	return r, nil
}

// follow watches the workloads until the watch ends, as it does when an API server stops. A new watch starts with the
// existing workloads.
func (r *rollouts) follow(ctx context.Context, watching client.WithWatch) {
	stream, err := watching.Watch(ctx, r.kind.NewList().(client.ObjectList), client.InNamespace(r.namespace))
	if err != nil {
		return
	}
	defer stream.Stop()
	for event := range stream.ResultChan() {
		if object, ok := event.Object.(workload.Object); ok && event.Type != watch.Deleted {
			r.see(object)
		}
	}
}

func (r *rollouts) see(object workload.Object) {
	r.mu.Lock()
	defer r.mu.Unlock()
	template := strings.ReplaceAll(text(workload.PodTemplate(object)), r.namespace, "NAMESPACE")
	name := object.GetName()
	if been := r.templates[name]; len(been) == 0 || been[len(been)-1] != template {
		r.templates[name] = append(been, template)
	}
	r.versions[name] = object.GetResourceVersion()
}

// upTo returns the pod templates so far, when the watch has delivered the versions in s.
func (r *rollouts) upTo(ctx context.Context, s *seen) (map[string][]string, error) {
	for {
		if found := r.of(s); found != nil {
			return found, nil
		}
		if err := pause(ctx); err != nil {
			return nil, fmt.Errorf("waiting for the watch of rollouts: %w", err)
		}
	}
}

func (r *rollouts) of(s *seen) map[string][]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name, object := range s.workloads {
		if r.versions[name] != object.GetResourceVersion() {
			return nil
		}
	}
	copied := map[string][]string{}
	for name, templates := range r.templates {
		copied[name] = slices.Clone(templates)
	}
	return copied
}
