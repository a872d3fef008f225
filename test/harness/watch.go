// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Watch calls see for each object of a kind that exists now, and then for each created, changed or deleted one, one
// after another, until the end of the test or of stop. The API server ends a watch that takes its events too slowly; it
// then continues after the last event. An event that is lost fails the test.
func (w *World) Watch(t testing.TB, list client.ObjectList, see func(object client.Object), options ...client.ListOption) (stop func()) {
	t.Helper()
	server, err := client.NewWithWatch(w.Config, client.Options{Scheme: w.Client.Scheme()})
	require.NoError(t, err)
	require.NoError(t, server.List(t.Context(), list, options...))
	require.NoError(t, apimeta.EachListItem(list, func(object runtime.Object) error {
		see(object.(client.Object)) //nolint:forcetypeassert // The items of an ObjectList are Objects.
		return nil
	}))
	ctx, cancel := context.WithCancel(t.Context())
	events, err := watchtools.NewRetryWatcherWithContext(ctx, list.GetResourceVersion(), &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, raw metav1.ListOptions) (apiwatch.Interface, error) {
			return server.Watch(ctx, list, append(options, &client.ListOptions{Raw: &raw})...)
		},
	})
	require.NoError(t, err)
	var done sync.WaitGroup
	done.Go(func() {
		for event := range events.ResultChan() {
			if object, isObject := event.Object.(client.Object); isObject {
				see(object)
			} else if ctx.Err() == nil {
				t.Error(apierrors.FromObject(event.Object))
			}
		}
	})
	stop = func() {
		cancel()
		done.Wait()
	}
	t.Cleanup(stop)
	return stop
}
