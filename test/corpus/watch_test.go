// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

// watched are the workloads of a namespace as they are now, by name.
type watched struct {
	mu      sync.Mutex
	latest  map[string]*appsv1.Deployment
	changed chan struct{} // Closed by a change, and made anew.
}

func watch(t *testing.T, namespace string) *watched {
	t.Helper()
	clientset, err := kubernetes.NewForConfig(world.Config)
	require.NoError(t, err)
	w := &watched{latest: map[string]*appsv1.Deployment{}, changed: make(chan struct{})}
	// The API server ends a watch after half an hour or more, so that an informer is needed.
	informer := informers.NewSharedInformerFactoryWithOptions(clientset, 0, informers.WithNamespace(namespace)).Apps().V1().Deployments().Informer()
	_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { w.see(object.(*appsv1.Deployment)) },
		UpdateFunc: func(_, object any) { w.see(object.(*appsv1.Deployment)) },
	})
	require.NoError(t, err)
	go informer.RunWithContext(t.Context())
	require.True(t, cache.WaitForCacheSync(t.Context().Done(), informer.HasSynced))
	return w
}

func (w *watched) see(deployment *appsv1.Deployment) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.latest[deployment.Name] = deployment
	close(w.changed)
	w.changed = make(chan struct{})
}

func (w *watched) now(name string) (*appsv1.Deployment, <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.latest[name], w.changed
}

// patience is how long a workload may stay as it is though it should be otherwise.
const patience = harness.Patience / 3

// until waits for a workload of which a check has nothing to say, and returns what it
// says last otherwise.
func (w *watched) until(ctx context.Context, name string, check func(*appsv1.Deployment) string) string {
	said, seen := "it was not seen", ""
	ended := time.NewTimer(patience)
	defer ended.Stop()
	for {
		deployment, changed := w.now(name)
		if deployment != nil && deployment.ResourceVersion != seen {
			if seen != "" {
				ended.Reset(patience)
			}
			seen = deployment.ResourceVersion
			if said = check(deployment); said == "" {
				return ""
			}
		}
		select {
		case <-ctx.Done():
			return said
		case <-ended.C:
			return said
		case <-changed:
		}
	}
}
