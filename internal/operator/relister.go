// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"context"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// relister creates informers that can be made to relist while they run. An informer trusts
// its watch, and relists only if its resource version has expired; client-go has no way to
// request that. Its zero value is usable.
type relister struct {
	mu      sync.Mutex
	sources []*relistable
}

// newInformer creates an informer as cache.NewSharedIndexInformer does.
func (r *relister) newInformer(from cache.ListerWatcher, example runtime.Object, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
	one := &relistable{ListerWatcherWithContext: cache.ToListerWatcherWithContext(from)}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sources = append(r.sources, one)
	return cache.NewSharedIndexInformer(one, example, resync, indexers)
}

// relist makes every informer end its watch and relist from etcd. It does not wait until
// they have. Differences reach the event handlers like any other change.
func (r *relister) relist() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, one := range r.sources {
		one.expire()
	}
}

// relistable is the ListerWatcher of an informer.
type relistable struct {
	cache.ListerWatcherWithContext

	mu sync.Mutex
	// expired is true until the next list or watch from the latest version: all others fail.
	expired bool
	current watch.Interface
}

func (s *relistable) expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expired = true
	if s.current != nil {
		s.current.Stop()
	}
}

// check rejects requests that start from a resource version, as an API server does if the
// version has expired, until one starts from the latest version.
func (s *relistable) check(options metav1.ListOptions) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.expired && options.ResourceVersion != "" {
		return apierrors.NewResourceExpired("the cache must be relisted")
	}
	s.expired = false
	return nil
}

// ListWithContext implements cache.ListerWithContext.
func (s *relistable) ListWithContext(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	if err := s.check(options); err != nil {
		return nil, err
	}
	return s.ListerWatcherWithContext.ListWithContext(ctx, options)
}

// WatchWithContext implements cache.WatcherWithContext.
func (s *relistable) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	if err := s.check(options); err != nil {
		return nil, err
	}
	opened, err := s.ListerWatcherWithContext.WatchWithContext(ctx, options)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current = opened
	return opened, nil
}

// List implements cache.Lister.
func (s *relistable) List(options metav1.ListOptions) (runtime.Object, error) {
	return s.ListWithContext(context.Background(), options)
}

// Watch implements cache.Watcher.
func (s *relistable) Watch(options metav1.ListOptions) (watch.Interface, error) {
	return s.WatchWithContext(context.Background(), options)
}
