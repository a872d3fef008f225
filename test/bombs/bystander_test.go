// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package bombs

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// bystander is a namespace with ordinary workloads.
type bystander struct {
	namespace string

	mu       sync.Mutex
	injected map[string]time.Time
	changed  chan struct{}
}

// newBystander creates a namespace with a VectorSidecar, and watches its Deployments.
func newBystander(t *testing.T) *bystander {
	t.Helper()
	b := &bystander{namespace: world.Namespace(t), injected: map[string]time.Time{}, changed: make(chan struct{}, 1)}
	world.Create(t, objects.NewVectorSidecar("logs", b.namespace).Selecting(label, "vector").WithMaxConcurrent("100%").Build())
	world.Watch(t, &appsv1.DeploymentList{}, func(object client.Object) {
		if d, ok := object.(*appsv1.Deployment); ok && isInjected(d) {
			b.see(d.Name)
		}
	}, client.InNamespace(b.namespace))
	return b
}

func (b *bystander) see(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, known := b.injected[name]; !known {
		b.injected[name] = time.Now()
	}
	select {
	case b.changed <- struct{}{}:
	default:
	}
}

// await waits until a Deployment is injected. It returns false when the context ends.
func (b *bystander) await(ctx context.Context, name string) (at time.Time, isInjected bool) {
	for {
		b.mu.Lock()
		at, isInjected = b.injected[name]
		b.mu.Unlock()
		if isInjected {
			return at, true
		}
		select {
		case <-b.changed:
		case <-ctx.Done():
			return at, false
		}
	}
}

// inject creates count Deployments, one after the other, and returns how long each waited for its sidecar, sorted.
func (b *bystander) inject(t *testing.T, o *running, count int) []time.Duration {
	t.Helper()
	var took []time.Duration
	for n := range count {
		name := fmt.Sprintf("app-%04d", n)
		ctx, cancel := context.WithTimeout(t.Context(), harness.Patience)
		stop := context.AfterFunc(t.Context(), cancel)
		began := time.Now()
		world.Create(t, objects.NewDeployment(name, b.namespace).Labeled(label, "vector").Build())
		at, isInjected := b.await(ctx, name)
		stop()
		cancel()
		require.True(t, isInjected, "Deployment %d of a bystander waits in vain; the operator lives: %t", n, o.lives())
		took = append(took, at.Sub(began))
	}
	slices.Sort(took)
	return took
}

// percentile returns the maximum duration of that percentage of the injections.
func percentile(took []time.Duration, of int) time.Duration {
	return took[min(len(took)*of/100, len(took)-1)].Round(100 * time.Microsecond)
}
