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

// relister makes informers that can be told to list anew while they run. An informer
// believes its watch, and lists again only if the API server does not know any more from
// where on it is to tell; nothing of client-go's asks for that. Its zero value is of use.
type relister struct {
	mu      sync.Mutex
	sources []*relistable
}

// newInformer makes an informer as cache.NewSharedIndexInformer does.
func (r *relister) newInformer(from cache.ListerWatcher, example runtime.Object, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
	one := &relistable{ListerWatcherWithContext: cache.ToListerWatcherWithContext(from)}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sources = append(r.sources, one)
	return cache.NewSharedIndexInformer(one, example, resync, indexers)
}

// relist has every informer break off its watch and list anew, from the API server's
// storage. It does not wait until they have. What differs then comes to the informers'
// handlers as any other change does.
func (r *relister) relist() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, one := range r.sources {
		one.expire()
	}
}

// relistable is where an informer has its objects from.
type relistable struct {
	cache.ListerWatcherWithContext

	mu sync.Mutex
	// expired tells that nobody may go on from a version that he has.
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

// check refuses what begins with a version, as an API server does that does not know it
// any more, until something begins with the latest one.
func (s *relistable) check(options metav1.ListOptions) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.expired && options.ResourceVersion != "" {
		return apierrors.NewResourceExpired("the cache is to be listed anew")
	}
	s.expired = false
	return nil
}

// ListWithContext lists.
func (s *relistable) ListWithContext(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	if err := s.check(options); err != nil {
		return nil, err
	}
	return s.ListerWatcherWithContext.ListWithContext(ctx, options)
}

// WatchWithContext watches.
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

// List and Watch are for those who have no context.
func (s *relistable) List(options metav1.ListOptions) (runtime.Object, error) {
	return s.ListWithContext(context.Background(), options)
}

// Watch is List's counterpart.
func (s *relistable) Watch(options metav1.ListOptions) (watch.Interface, error) {
	return s.WatchWithContext(context.Background(), options)
}
