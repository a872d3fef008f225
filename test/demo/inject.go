// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

const (
	label      = "logs"
	labelValue = "vector"
	// claim is the documented time until a labeled Deployment is patched; limit is the maximum on slow machines.
	claim = time.Second
	limit = 5 * time.Second
)

func (d *demo) deployApplication(ctx context.Context) error {
	if _, err := d.kubectl(ctx, "apply", "-f", "docs/samples/app/deployment.yaml"); err != nil {
		return err
	}
	if err := d.rolledOut(ctx, 1); err != nil {
		return err
	}
	now, err := d.application(ctx)
	if err != nil {
		return err
	}
	d.original = now
	d.ok("spec.template is %d bytes, sha256 %s", len(now.template), now.digest())
	return nil
}

func (d *demo) applySidecar(ctx context.Context) error {
	if _, err := d.kubectl(ctx, "apply", "-f", logsFile); err != nil {
		return err
	}
	// By default, each rollout soaks for half a minute before it is finished.
	if _, err := d.kubectl(ctx, "patch", "vectorsidecars", logs.Name, "-n", logs.Namespace, "--type=merge", "-p", `{"spec": {"rollout": {"soak": "2s", "onFailure": "Revert"}}}`); err != nil {
		return err
	}
	if err := d.sidecarReady(ctx, meta.ReasonNoMatch, 0, 0); err != nil {
		return err
	}
	if err := d.showSidecar(ctx, 0, 0); err != nil {
		return err
	}
	now, err := d.application(ctx)
	if err != nil {
		return err
	}
	if err := expect(cartObject, "resourceVersion", d.original.resourceVersion, now.resourceVersion); err != nil {
		return err
	}
	d.ok("it matches nothing yet, and nothing was touched")
	return nil
}

func (d *demo) inject(ctx context.Context) error {
	if err := d.labelAndMeasure(ctx); err != nil {
		return err
	}
	now, err := d.application(ctx)
	if err != nil {
		return err
	}
	if err := expect(cartObject, "one generation more:", d.original.generation+1, now.generation); err != nil {
		return err
	}
	if err := d.showDiff(d.original.template, now.template, 2); err != nil {
		return err
	}
	if err := d.rolledOut(ctx, 2); err != nil {
		return err
	}
	if err := d.sidecarReady(ctx, meta.ReasonUpToDate, 1, 1); err != nil {
		return err
	}
	if err := d.showSidecar(ctx, 1, 1); err != nil {
		return err
	}
	if d.injected, err = d.application(ctx); err != nil {
		return err
	}
	if err := expect(cartObject, "ReplicaSets:", len(d.original.replicaSets)+1, len(d.injected.replicaSets)); err != nil {
		return err
	}
	d.ok("one rollout, and both pods run application and Vector")
	return nil
}

// labelAndMeasure sets the label and shows how long the operator took. One watch measures both ends, so the
// duration does not include kubectl.
func (d *demo) labelAndMeasure(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	watcher, err := d.client.Watch(ctx, &appsv1.DeploymentList{}, client.InNamespace(cart.Namespace), client.MatchingFields{"metadata.name": cart.Name})
	if err != nil {
		return fmt.Errorf("watching %s: %w", cartObject, err)
	}
	defer watcher.Stop()
	took := make(chan time.Duration, 1)
	go func() { took <- measure(watcher, d.original.generation) }()
	if _, err := d.kubectl(ctx, "label", "deployment", cart.Name, "-n", cart.Namespace, label+"="+labelValue); err != nil {
		return err
	}
	progress := d.working("waiting for the operator to patch the Deployment")
	defer progress.end()
	select {
	case found := <-took:
		if found > claim {
			d.line("that is more than the claimed %s", claim)
		}
		d.ok("patched %d ms after the label was written", found.Milliseconds())
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(limit):
		return mismatch{cartObject, "a sidecar within " + limit.String() + " of the label", "none"}
	}
}

// measure returns the time from the label to the next generation of the pod
// template. It ends with the watch at the latest.
func measure(watcher watch.Interface, generation int64) time.Duration {
	var labeled time.Time
	for event := range watcher.ResultChan() {
		now := time.Now()
		deployment, ok := event.Object.(*appsv1.Deployment)
		if !ok {
			continue
		}
		if labeled.IsZero() && deployment.Labels[label] == labelValue {
			labeled = now
		}
		if deployment.Generation > generation && deployment.Annotations[meta.AnnotationInjected] == "true" {
			return now.Sub(labeled)
		}
	}
	return limit
}
