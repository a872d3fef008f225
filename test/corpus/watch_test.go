// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

// watched caches the current workloads of a namespace by name.
type watched struct {
	mu      sync.Mutex
	latest  map[string]workload.Object
	changed chan struct{} // Closed by a change, and made anew.
}

func watch(t *testing.T, namespace string) *watched {
	t.Helper()
	clientset, err := kubernetes.NewForConfig(world.Config)
	require.NoError(t, err)
	w := &watched{latest: map[string]workload.Object{}, changed: make(chan struct{})}
	// The API server ends a watch after half an hour or more, so the test uses an informer.
	factory := informers.NewSharedInformerFactoryWithOptions(clientset, 0, informers.WithNamespace(namespace))
	untyped, err := dynamic.NewForConfig(world.Config)
	require.NoError(t, err)
	custom := dynamicinformer.NewFilteredDynamicSharedInformerFactory(untyped, 0, namespace, nil)
	for _, kind := range Kinds() {
		of := workload.KindByName(kind.Name)
		resource := of.GroupVersion().WithResource(of.Resource)
		informer := custom.ForResource(resource).Informer()
		if kind.custom {
			require.NoError(t, informer.SetTransform(func(object any) (any, error) {
				typed := of.New()
				return typed, runtime.DefaultUnstructuredConverter.FromUnstructured(object.(*unstructured.Unstructured).Object, typed)
			}))
		} else {
			generic, err := factory.ForResource(resource)
			require.NoError(t, err)
			informer = generic.Informer()
		}
		_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(object any) { w.see(object.(workload.Object)) },
			UpdateFunc: func(_, object any) { w.see(object.(workload.Object)) },
		})
		require.NoError(t, err)
		go informer.RunWithContext(t.Context())
		require.True(t, cache.WaitForCacheSync(t.Context().Done(), informer.HasSynced))
	}
	return w
}

func (w *watched) see(object workload.Object) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.latest[object.GetName()] = object
	close(w.changed)
	w.changed = make(chan struct{})
}

func (w *watched) now(name string) (workload.Object, <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.latest[name], w.changed
}

// patience is the maximum time until a workload has the expected state.
const patience = harness.Patience / 3

// until waits until a check of a workload returns "", and returns its last result otherwise.
func (w *watched) until(ctx context.Context, name string, check func(workload.Object) string) string {
	said, seen := "it was not seen", ""
	ended := time.NewTimer(patience)
	defer ended.Stop()
	for {
		object, changed := w.now(name)
		if object != nil && object.GetResourceVersion() != seen {
			if seen != "" {
				ended.Reset(patience)
			}
			seen = object.GetResourceVersion()
			if said = check(object); said == "" {
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
