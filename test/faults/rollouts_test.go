// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
)

// rollouts are the pod templates that the Deployments of a namespace go through, by
// their names. Every write is seen, also one that the Deployment controller is too
// late for.
type rollouts struct {
	namespace string
	stop      context.CancelFunc

	mu        sync.Mutex
	templates map[string][]string
	versions  map[string]string
}

func countRollouts(ctx context.Context, namespace string) (*rollouts, error) {
	clientset, err := kubernetes.NewForConfig(world.Config)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	r := &rollouts{namespace: namespace, stop: stop, templates: map[string][]string{}, versions: map[string]string{}}
	go func() {
		for ctx.Err() == nil {
			r.follow(ctx, clientset)
			_ = pause(ctx) // The end of the context ends the loop.
		}
	}()
	return r, nil
}

// follow follows the Deployments until the watch breaks, as it does when an API server
// goes. What is there when it comes back is told first.
func (r *rollouts) follow(ctx context.Context, clientset kubernetes.Interface) {
	stream, err := clientset.AppsV1().Deployments(r.namespace).Watch(ctx, metav1.ListOptions{})
	if err != nil {
		return
	}
	defer stream.Stop()
	for event := range stream.ResultChan() {
		if d, ok := event.Object.(*appsv1.Deployment); ok && event.Type != watch.Deleted {
			r.see(d)
		}
	}
}

func (r *rollouts) see(d *appsv1.Deployment) {
	r.mu.Lock()
	defer r.mu.Unlock()
	template := strings.ReplaceAll(text(d.Spec.Template), r.namespace, "NAMESPACE")
	if been := r.templates[d.Name]; len(been) == 0 || been[len(been)-1] != template {
		r.templates[d.Name] = append(been, template)
	}
	r.versions[d.Name] = d.ResourceVersion
}

// upTo returns the pod templates so far, once all that somebody saw has been seen.
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
	for name, d := range s.deployments {
		if r.versions[name] != d.ResourceVersion {
			return nil
		}
	}
	copied := map[string][]string{}
	for name, templates := range r.templates {
		copied[name] = slices.Clone(templates)
	}
	return copied
}
