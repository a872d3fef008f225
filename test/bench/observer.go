// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/metadata"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// observer records when each Deployment of a namespace is injected, with a watch of their metadata, for all
// contenders in the same way.
type observer struct {
	cancel context.CancelFunc

	mu       sync.Mutex
	injected map[string]time.Time // by name, the first time
	versions map[string]string    // the value of the annotation injected-hash
	changed  chan struct{}        // closed and replaced with each change
}

func (c *cluster) observe(ctx context.Context, namespace string) (*observer, error) {
	client, err := metadata.NewForConfig(c.fast)
	if err != nil {
		return nil, fmt.Errorf("making a client for metadata: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	deployments := client.Resource(appsv1.SchemeGroupVersion.WithResource("deployments")).Namespace(namespace)
	o := &observer{cancel: cancel, injected: map[string]time.Time{}, versions: map[string]string{}, changed: make(chan struct{})}
	// Each watch starts with the current state, so no change between two watches is missed.
	go func() {
		for ctx.Err() == nil {
			if watch, err := deployments.Watch(ctx, metav1.ListOptions{}); err == nil {
				for event := range watch.ResultChan() {
					o.see(event.Object)
				}
			}
		}
	}()
	return o, nil
}

func (o *observer) see(of runtime.Object) {
	object, err := apimeta.Accessor(of)
	if err != nil || object.GetAnnotations()[meta.AnnotationInjected] == "" {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, known := o.injected[object.GetName()]; !known {
		o.injected[object.GetName()] = time.Now()
	}
	o.versions[object.GetName()] = object.GetAnnotations()[meta.AnnotationInjectedHash]
	close(o.changed)
	o.changed = make(chan struct{})
}

// wait returns when the recorded state meets a condition.
func (o *observer) wait(ctx context.Context, what string, met func() bool) error {
	for {
		o.mu.Lock()
		done, changed := met(), o.changed
		o.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s, with %d injected: %w", what, o.seen(), context.Cause(ctx))
		}
	}
}

// seen returns the number of injected Deployments.
func (o *observer) seen() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.injected)
}

// count waits until n Deployments have been injected.
func (o *observer) count(ctx context.Context, n int) error {
	return o.wait(ctx, fmt.Sprintf("%d injections", n), func() bool { return len(o.injected) >= n })
}

// at returns when a Deployment was injected.
func (o *observer) at(name string) time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.injected[name]
}

func (o *observer) stop() { o.cancel() }

// again resets the recorded times, for another round.
func (o *observer) again() {
	o.mu.Lock()
	defer o.mu.Unlock()
	clear(o.injected)
}

// same waits until count Deployments have the same sidecar, which is not the previous one.
func (o *observer) same(ctx context.Context, count int, before string) error {
	return o.wait(ctx, "the same sidecar everywhere", func() bool {
		if len(o.versions) < count {
			return false
		}
		return len(o.kinds()) == 1 && !o.kinds()[before]
	})
}

// kinds returns the versions of the sidecar in use; the caller holds the lock.
func (o *observer) kinds() map[string]bool {
	found := map[string]bool{}
	for _, version := range o.versions {
		found[version] = true
	}
	return found
}

// version returns the version of the sidecar in use, any of them if there are several.
func (o *observer) version() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	for version := range o.kinds() {
		return version
	}
	return ""
}

// distinct returns the number of versions of the sidecar in use.
func (o *observer) distinct() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.kinds())
}

// earliest returns when the first Deployment was injected.
func (o *observer) earliest() time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	var first time.Time
	for _, at := range o.injected {
		if first.IsZero() || at.Before(first) {
			first = at
		}
	}
	return first
}
