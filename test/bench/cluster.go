// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"kontroloop.ai/vector-sidecar-operator/test/controlplane"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

// workers is the number of concurrent requests that create the measured objects and run the floor. It gives the
// highest throughput, see docs/explanation/performance.md.
const workers = 16

// cluster is the control plane of the benchmark.
type cluster struct {
	*harness.World
	control *controlplane.ControlPlane
	// set uses protobuf; World's client uses JSON.
	set   kubernetes.Interface
	fast  *rest.Config
	count int // of namespaces made
}

func newCluster(ctx context.Context, options controlplane.Options) (*cluster, error) {
	control, err := controlplane.Start(ctx, options)
	if err != nil {
		return nil, err
	}
	c := &cluster{control: control, fast: control.Config()}
	c.fast.ContentType = "application/vnd.kubernetes.protobuf"
	c.fast.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	if c.World, err = harness.NewWorld(control.Config()); err == nil {
		c.set, err = kubernetes.NewForConfig(c.fast)
	}
	if err != nil {
		_ = control.Stop() // The first error is the one to tell.
		return nil, err
	}
	return c, nil
}

// namespace creates a namespace.
func (c *cluster) namespace(ctx context.Context, what string) (string, error) {
	c.count++
	object := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", what, c.count)}}
	if _, err := c.set.CoreV1().Namespaces().Create(ctx, object, metav1.CreateOptions{}); err != nil {
		return "", fmt.Errorf("making namespace %s: %w", object.Name, err)
	}
	return object.Name, nil
}

// quiet waits until the API server has had no counted call for a while.
func (c *cluster) quiet(ctx context.Context, still time.Duration) (calls, error) {
	last, err := readCalls(ctx, c.set)
	if err != nil {
		return nil, err
	}
	for began := time.Now(); time.Since(began) < still; {
		if err := pause(ctx, still/10); err != nil {
			return nil, err
		}
		now, err := readCalls(ctx, c.set)
		if err != nil {
			return nil, err
		}
		if now.since(last).total() > 0 {
			began, last = time.Now(), now
		}
	}
	return last, nil
}

// pause waits, or returns when the context ends.
func pause(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// until polls until a condition is met.
func until(ctx context.Context, what string, met func() (bool, error)) error {
	for {
		done, err := met()
		if err != nil || done {
			return err
		}
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return fmt.Errorf("waiting for %s: %w", what, err)
		}
	}
}
