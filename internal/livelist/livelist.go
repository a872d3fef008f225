// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package livelist lists live objects page by page within a limit of bytes. A client that reads from the API server, a
// kind, a namespace and a function that reduces an object go in; the reduced objects come out. The whole process has
// one page in memory at a time, independent of the number and the size of the objects. Namespaces take turns page by
// page. If the API server cannot stream a list, a Source fills an informer by the same rules.
package livelist

import (
	"context"
	"fmt"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/fairslots"
)

const (
	// firstPage is the number of objects on the first page of a list, lastPage the maximum on a page.
	firstPage, lastPage = 10, 500
	// pageBytes is the limit of a page's response body, decompressed. An API server with etcd's default limit stores
	// no object above 1.5 MiB.
	pageBytes = 4 << 20
	// objectBytes is the limit for a page with one object.
	objectBytes = 16 << 20
	// maxRestarts is the number of times that a list starts again because its continue token expired.
	maxRestarts = 5
)

// Pager keeps one page in memory at a time, for all lists of its Clients and Sources. A process has one Pager.
type Pager struct{ slot *fairslots.Slots }

// NewPager returns a Pager. Its limit of bytes applies to requests of a rest.Config that LimitResponses changed.
func NewPager() *Pager { return &Pager{slot: fairslots.New(1, 1)} }

// New returns a Client with its own Pager, for programs that run one list at a time.
func New(reader client.Reader) *Client { return NewPager().Client(reader) }

// Client reads live objects. It is safe for concurrent use.
type Client struct {
	reader client.Reader
	pager  *Pager
}

// Client returns a Client that sends the requests of a reader.
func (p *Pager) Client(reader client.Reader) *Client { return &Client{reader: reader, pager: p} }

// Get reads one object, as client.Reader does.
func (c *Client) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	return c.reader.Get(ctx, key, object, options...)
}

// Find reads one object into object by a list, for kinds that the operator may list and watch, but not get. It returns false
// if the object does not exist. list is an empty list of the object's kind.
func (c *Client) Find(ctx context.Context, list client.ObjectList, key client.ObjectKey, object client.Object) (bool, error) {
	target := reflect.ValueOf(object).Elem()
	copyTo := func(listed client.Object) bool {
		target.Set(reflect.ValueOf(listed).Elem())
		return true
	}
	return Contains(ctx, c, list, copyTo, client.InNamespace(key.Namespace), client.MatchingFields{metav1.ObjectNameField: key.Name})
}

// Metadata returns an empty list of the metadata of a kind, for Collect and Contains.
func Metadata(kind schema.GroupVersionKind) *metav1.PartialObjectMetadataList {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	return list
}

// Collect lists the objects of the type of list. It returns the results for which reduce returns true; the result is
// empty and not nil if there are none. The objects are valid only until reduce returns, and reduce must not list
// anything itself. If the list starts again, reduce is called again for the same objects. Of list itself, only the
// resource version is set.
func Collect[O client.Object, T any](ctx context.Context, c *Client, list client.ObjectList, reduce func(O) (T, bool), options ...client.ListOption) ([]T, error) {
	results := []T{}
	visit := func(object O) bool {
		if result, ok := reduce(object); ok {
			results = append(results, result)
		}
		return true
	}
	err := forEachObject(ctx, c, list, func() { results = []T{} }, visit, options)
	if err != nil {
		return nil, err
	}
	return results, nil
}

// Contains reports whether matches returns true for one of the listed objects. It stops at the first such object.
func Contains[O client.Object](ctx context.Context, c *Client, list client.ObjectList, matches func(O) bool, options ...client.ListOption) (bool, error) {
	var found bool
	err := forEachObject(ctx, c, list, func() {}, func(object O) bool {
		found = found || matches(object)
		return !found
	}, options)
	return found, err
}

// forEachObject calls visit for every object until visit returns false. If the list starts again, it calls restart
// first.
func forEachObject[O client.Object](ctx context.Context, c *Client, list client.ObjectList, restart func(), visit func(O) bool, options []client.ListOption) error {
	var query client.ListOptions
	var failure error
	query.ApplyOptions(options)
	request := func(ctx context.Context, limit int64, token string) (runtime.Object, error) {
		page, isList := list.DeepCopyObject().(client.ObjectList)
		if !isList {
			return nil, fmt.Errorf("listing: %T is not a list of objects", list)
		}
		query.Limit, query.Continue = limit, token
		if err := c.reader.List(ctx, page, &query); err != nil {
			return nil, err
		}
		list.SetResourceVersion(page.GetResourceVersion()) // All pages have the version of the first page.
		return page, nil
	}
	err := c.pager.listPages(ctx, query.Namespace, request, restart, func(item runtime.Object) bool {
		object, ok := item.(O)
		if !ok {
			failure = fmt.Errorf("listing: unexpected type %T", item)
		}
		return ok && visit(object)
	})
	if failure != nil {
		return failure
	}
	return err
}

// listPages requests pages and calls visit for every item, until visit returns false. Each request waits until the
// namespace may send one.
func (p *Pager) listPages(ctx context.Context, namespace string, request func(context.Context, int64, string) (runtime.Object, error), restart func(), visit func(runtime.Object) bool) error {
	next := pageRequest{limit: firstPage}
	for restarts := 0; ; {
		hasMore, err := p.listPage(ctx, namespace, &next, request, visit)
		switch {
		case apierrors.IsResourceExpired(err) && next.token != "" && restarts < maxRestarts:
			restarts++
			next.token = ""
			restart()
		case err != nil || !hasMore:
			return err
		}
	}
}

// pageRequest is the request for the next page of a list.
type pageRequest struct {
	limit int64
	token string
}

// listPage requests the next page and visits its items. If the response is too large, it requests fewer objects. It
// updates next, and reports whether the list has more pages.
func (p *Pager) listPage(ctx context.Context, namespace string, next *pageRequest, request func(context.Context, int64, string) (runtime.Object, error), visit func(runtime.Object) bool) (hasMore bool, err error) {
	if err := p.slot.Acquire(ctx, namespace); err != nil {
		return false, err
	}
	defer p.slot.Release(namespace)
	for {
		budget := &bodyBudget{limit: pageBytes}
		if next.limit == 1 {
			budget.limit = objectBytes
		}
		page, err := request(context.WithValue(ctx, budgetKey{}, budget), next.limit, next.token)
		switch {
		case budget.isExceeded() && next.limit > 1:
			next.limit = max(next.limit/4, 1)
			continue
		case budget.isExceeded():
			return false, fmt.Errorf("listing: an object is larger than %d MiB", objectBytes>>20)
		case err != nil:
			return false, err
		}
		accessor, err := apimeta.ListAccessor(page)
		if err != nil {
			return false, fmt.Errorf("reading a page of a list: %w", err)
		}
		if next.token = accessor.GetContinue(); budget.read < pageBytes/4 {
			next.limit = min(next.limit*2, lastPage)
		}
		isDone := false
		err = apimeta.EachListItem(page, func(item runtime.Object) error {
			if !isDone {
				isDone = !visit(item)
			}
			return nil
		})
		return next.token != "" && !isDone, err
	}
}
