// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package livelist

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// server is an API server with ConfigMaps of the given sizes in bytes, which records what was requested and can let a
// continue token expire.
type server struct {
	sizes []int

	mu        sync.Mutex
	limits    []int64
	isExpired bool
}

// ServeHTTP answers a list of ConfigMaps.
func (s *server) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	query := request.URL.Query()
	limit, _ := strconv.Atoi(query.Get("limit"))
	start, _ := strconv.Atoi(query.Get("continue"))
	s.mu.Lock()
	s.limits = append(s.limits, int64(limit))
	expires := s.isExpired && start > 0
	s.isExpired = s.isExpired && !expires
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if expires {
		w.WriteHeader(http.StatusGone)
		status := apierrors.NewResourceExpired("the continue token has expired").Status()
		status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
		_ = json.NewEncoder(w).Encode(status)
		return
	}
	page := corev1.ConfigMapList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMapList"}}
	page.ResourceVersion = "7"
	for i := start; i < len(s.sizes) && (limit == 0 || i < start+limit); i++ {
		object := corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprintf("c%04d", i)}}
		object.Data = map[string]string{"text": strings.Repeat("x", s.sizes[i])}
		page.Items = append(page.Items, object)
	}
	if start+limit < len(s.sizes) && limit > 0 {
		page.Continue = strconv.Itoa(start + limit)
	}
	_ = json.NewEncoder(w).Encode(page)
}

// startServer returns a Client of the server.
func startServer(t *testing.T, s *server) *Client {
	t.Helper()
	listening := httptest.NewServer(s)
	t.Cleanup(listening.Close)
	config := &rest.Config{Host: listening.URL, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}
	LimitResponses(config)
	mapper := apimeta.NewDefaultRESTMapper(nil)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), apimeta.RESTScopeNamespace)
	reader, err := client.New(config, client.Options{Scheme: clientgoscheme.Scheme, Mapper: mapper})
	require.NoError(t, err)
	return NewPager().Client(reader)
}

func sizes(counts ...int) []int {
	var all []int
	for i := 0; i < len(counts); i += 2 {
		for range counts[i] {
			all = append(all, counts[i+1])
		}
	}
	return all
}

func nameOf(object client.Object) (string, bool) { return object.GetName(), true }

// A page with too many bytes is requested again with fewer objects, wherever the large objects are in the list.
func TestCollect_LimitsBytesOfEachPage(t *testing.T) {
	for name, test := range map[string]struct {
		sizes     []int
		mostLimit int64
	}{
		"no objects":                       {nil, firstPage},
		"small objects":                    {sizes(3000, 10), lastPage},
		"large objects":                    {sizes(12, 1500<<10), firstPage},
		"large objects after small ones":   {sizes(1000, 10, 12, 1500<<10), lastPage},
		"one object larger than a page":    {sizes(5, 10, 1, pageBytes+1, 5, 10), firstPage},
		"a large one between small ones":   {sizes(300, 10, 1, 3<<20, 300, 10), lastPage},
		"objects of which two fill a page": {sizes(8, pageBytes/2), firstPage},
	} {
		t.Run(name, func(t *testing.T) {
			s := &server{sizes: test.sizes}
			names, err := Collect(t.Context(), startServer(t, s), &corev1.ConfigMapList{}, nameOf, client.InNamespace("shop"))
			require.NoError(t, err)
			require.Len(t, names, len(test.sizes))
			for i, name := range names {
				require.Equal(t, fmt.Sprintf("c%04d", i), name)
			}
			require.EqualValues(t, firstPage, s.limits[0])
			for _, limit := range s.limits {
				require.LessOrEqual(t, limit, test.mostLimit)
			}
		})
	}
}

// A single object is larger than the limit. The list fails with an error that states the limit.
func TestCollect_RejectsObjectAboveLimit(t *testing.T) {
	_, err := Collect(t.Context(), startServer(t, &server{sizes: []int{objectBytes + 1}}), &corev1.ConfigMapList{}, nameOf)
	require.ErrorContains(t, err, "an object is larger than 16 MiB")
}

// If the continue token expires, the list starts again from the first page.
func TestCollect_RestartsAfterExpiredToken(t *testing.T) {
	s := &server{sizes: sizes(25, 10), isExpired: true}
	list := &corev1.ConfigMapList{}
	names, err := Collect(t.Context(), startServer(t, s), list, nameOf)
	require.NoError(t, err)
	require.Len(t, names, 25)
	require.Equal(t, "7", list.ResourceVersion)
	require.Empty(t, list.Items)
}

// A search of live objects stops after the page with the first match.
func TestContains_StopsAtFirstMatch(t *testing.T) {
	s := &server{sizes: sizes(100, 10)}
	found, err := Contains(t.Context(), startServer(t, s), &corev1.ConfigMapList{}, func(object client.Object) bool { return object.GetName() == "c0003" })
	require.NoError(t, err)
	require.True(t, found)
	require.Len(t, s.limits, 1)
}

// Find reads one object by its name, without a list.
func TestClient_FindReadsSingleObject(t *testing.T) {
	object := &corev1.ConfigMap{}
	found, err := startServer(t, &server{sizes: []int{10}}).Find(t.Context(), &corev1.ConfigMapList{}, client.ObjectKey{Namespace: "shop", Name: "c0000"}, object)
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, "c0000", object.Name)

	found, err = startServer(t, &server{}).Find(t.Context(), &corev1.ConfigMapList{}, client.ObjectKey{Namespace: "shop", Name: "c0000"}, object)
	require.NoError(t, err)
	require.False(t, found)
}

// The objects of a list are reduced page by page, so that the whole list is never in memory.
func TestSource_ListsTransformedObjectsPageByPage(t *testing.T) {
	s := &server{sizes: sizes(12, 1500<<10)}
	c := startServer(t, s)
	from := &cache.ListWatch{ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		page := &corev1.ConfigMapList{}
		return page, c.reader.List(ctx, page, &client.ListOptions{Raw: &options, Limit: options.Limit, Continue: options.Continue})
	}}
	source := c.pager.Source(from)
	informer := source.Informer(cache.NewSharedIndexInformer(source, &corev1.ConfigMap{}, 0, cache.Indexers{}))
	require.NoError(t, informer.SetTransform(func(object any) (any, error) {
		object.(*corev1.ConfigMap).Data = nil
		return object, nil
	}))
	listed, err := source.ListWithContext(t.Context(), metav1.ListOptions{ResourceVersion: "0", Limit: 500})
	require.NoError(t, err)
	all := listed.(*internalversion.List)
	require.Equal(t, "7", all.ResourceVersion)
	require.Len(t, all.Items, 12)
	for _, item := range all.Items {
		require.Nil(t, item.(*corev1.ConfigMap).Data)
	}
	require.NotContains(t, s.limits, int64(500))
}

// A transform returns a value that is not an object. The list fails, because the object would otherwise be missing in
// the cache until its next change.
func TestSource_RejectsOtherTypesOfResults(t *testing.T) {
	c := startServer(t, &server{sizes: sizes(1, 10)})
	from := &cache.ListWatch{ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		page := &corev1.ConfigMapList{}
		return page, c.reader.List(ctx, page, &client.ListOptions{Raw: &options, Limit: options.Limit, Continue: options.Continue})
	}}
	source := c.pager.Source(from)
	informer := source.Informer(cache.NewSharedIndexInformer(source, &corev1.ConfigMap{}, 0, cache.Indexers{}))
	require.NoError(t, informer.SetTransform(func(any) (any, error) { return struct{}{}, nil }))
	_, err := source.ListWithContext(t.Context(), metav1.ListOptions{})
	require.EqualError(t, err, "transforming a listed object: the result struct {} is not a runtime.Object")
}
