// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// silent is an API server whose watches report nothing.
type silent struct {
	mu    sync.Mutex
	names []string
	// asked are the resource versions of the list requests.
	asked []string
}

func (s *silent) has(names ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.names = names
}

func (s *silent) list(_ context.Context, options metav1.ListOptions) (runtime.Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, options.ResourceVersion)
	list := &corev1.ConfigMapList{ListMeta: metav1.ListMeta{ResourceVersion: "7"}}
	for _, name := range s.names {
		list.Items = append(list.Items, corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: "7"}})
	}
	return list, nil
}

func (s *silent) watch(_ context.Context, options metav1.ListOptions) (watch.Interface, error) {
	if options.SendInitialEvents != nil {
		return nil, errors.New("lists do not come as watches here")
	}
	return watch.NewRaceFreeFake(), nil
}

func TestWhatNoWatchTellsOfIsListed(t *testing.T) {
	server, lists := &silent{}, &relister{}
	server.has("stays", "goes")
	informer := lists.newInformer(&cache.ListWatch{ListWithContextFunc: server.list, WatchFuncWithContext: server.watch}, &corev1.ConfigMap{}, 0, cache.Indexers{})
	go informer.RunWithContext(t.Context())
	keys := func() []string { return informer.GetStore().ListKeys() }
	require.Eventually(t, func() bool { return len(keys()) == 2 }, time.Minute, time.Millisecond)

	server.has("stays", "comes")
	lists.relist()

	require.Eventually(t, func() bool { _, found, _ := informer.GetStore().GetByKey("comes"); return found }, time.Minute, time.Millisecond)
	require.ElementsMatch(t, []string{"stays", "comes"}, keys())
	server.mu.Lock()
	defer server.mu.Unlock()
	require.Equal(t, []string{"0", ""}, server.asked, "the second time not from a cache")
}
