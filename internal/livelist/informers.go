// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package livelist

import (
	"context"
	"fmt"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// Source lists and watches the objects of an informer. If the API server cannot stream a list (WatchList), the Source
// lists page by page and transforms each object at once. client-go would request the whole list in one response, and
// transform it afterwards.
type Source struct {
	cache.ListerWatcherWithContext

	pager     *Pager
	transform cache.TransformFunc
}

// Source returns a Source that lists page by page with a ListerWatcher. Pass it to the informer, and the informer to
// Source.Informer.
func (p *Pager) Source(listerWatcher cache.ListerWatcher) *Source {
	return &Source{ListerWatcherWithContext: cache.ToListerWatcherWithContext(listerWatcher), pager: p}
}

// Informer returns an informer that passes its transform function to the Source. informer must read from the Source.
func (s *Source) Informer(informer cache.SharedIndexInformer) cache.SharedIndexInformer {
	return &sourceInformer{SharedIndexInformer: informer, source: s}
}

// sourceInformer is an informer that passes its transform function to its Source.
type sourceInformer struct {
	cache.SharedIndexInformer

	source *Source
}

// SetTransform implements cache.SharedIndexInformer. The function must be idempotent anyway, because client-go calls
// it again with its own results.
func (i *sourceInformer) SetTransform(transform cache.TransformFunc) error {
	i.source.transform = transform
	return i.SharedIndexInformer.SetTransform(transform)
}

// ListWithContext lists the current objects and ignores the requested resource version, because the result is never
// older.
func (s *Source) ListWithContext(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	options.ResourceVersion, options.ResourceVersionMatch = "", ""
	list := &internalversion.List{}
	request := func(ctx context.Context, limit int64, token string) (runtime.Object, error) {
		options.Limit, options.Continue = limit, token
		page, err := s.ListerWatcherWithContext.ListWithContext(ctx, options)
		if err != nil {
			return nil, err
		}
		accessor, err := apimeta.ListAccessor(page)
		if err != nil {
			return nil, fmt.Errorf("reading a page of a list: %w", err)
		}
		list.ResourceVersion = accessor.GetResourceVersion() // The version of the first page: all other pages have the same.
		return page, nil
	}
	var failure error
	err := s.pager.listPages(ctx, metav1.NamespaceAll, request, func() { list.Items = nil }, func(item runtime.Object) bool {
		var reduced any = item.DeepCopyObject() // A pointer into the items of the page would keep all of them in memory.
		if s.transform != nil {
			reduced, failure = s.transform(reduced)
		}
		if failure != nil {
			return false
		}
		object, isObject := reduced.(runtime.Object)
		if !isObject {
			failure = fmt.Errorf("the result %T is not a runtime.Object", reduced)
			return false
		}
		list.Items = append(list.Items, object)
		return true
	})
	if failure != nil {
		return nil, fmt.Errorf("transforming a listed object: %w", failure)
	}
	return list, err
}

// Watch implements cache.ListerWatcher.
func (s *Source) Watch(options metav1.ListOptions) (watch.Interface, error) {
	return s.WatchWithContext(context.Background(), options)
}

// List implements cache.ListerWatcher.
func (s *Source) List(options metav1.ListOptions) (runtime.Object, error) {
	return s.ListWithContext(context.Background(), options)
}
