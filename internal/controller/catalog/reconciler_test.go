// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clientevents "k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/events"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/notify"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/sidecarcache"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// values is the name of the ConfigMap with the installation's values.
var values = types.NamespacedName{Namespace: "vector-system", Name: "values"}

func newInstallation(data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: values.Namespace, Name: values.Name, UID: "values"}, Data: data}
}

// memoryAPI is an in-memory API with a Reconciler.
type memoryAPI struct {
	client.WithWatch

	*Reconciler
	// requests has the reconciles that the Reconciler has requested.
	requests workqueue.TypedRateLimitingInterface[reconcile.Request]
}

func newMemoryAPI(t *testing.T, faults interceptor.Funcs, there ...client.Object) *memoryAPI {
	t.Helper()
	scheme := runtime.NewScheme()
	require.NoError(t, errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)))
	live := fake.NewClientBuilder().WithScheme(scheme).WithReturnManagedFields().WithObjects(there...).WithInterceptorFuncs(faults).Build()
	files, err := render.ReadFiles(vectorsidecar.FS)
	require.NoError(t, err)
	sets, err := desired.NewCatalog(files)
	require.NoError(t, err)
	a := &memoryAPI{WithWatch: live, requests: workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())}
	t.Cleanup(a.requests.ShutDown)
	notifier := &notify.Notifier{}
	require.NoError(t, notifier.Source().Start(t.Context(), a.requests))
	a.Reconciler = New(&Options{
		Cached: live, Live: livelist.NewPager().Client(live), Writer: apply.New(live), Sidecars: sidecarcache.New(live, livelist.New(live), values.Namespace, false),
		Events: events.New(clientevents.NewFakeRecorder(10), scheme, nil, telemetry.NewMetrics("1", time.Now)), Metrics: telemetry.NewMetrics("1", time.Now), Backoff: state.NewBackoff(),
		Waves: state.NewWaves(), Notifier: notifier, Catalog: sets, Namespace: values.Namespace, Installation: values, Quiet: -1, Clock: time.Now,
	})
	return a
}

// load loads the platform, as after an event of one of its ConfigMaps.
func (a *memoryAPI) load(t *testing.T) reconcile.Result {
	t.Helper()
	result, err := a.Reconcile(t.Context(), reconcile.Request{NamespacedName: catalogKey})
	require.NoError(t, err)
	return result
}

// If the options name a ConfigMap of values and it is missing, nothing is published until it exists. If they name none,
// the built-in values are published.
func TestReconciler_RequiresConfigMapOnlyIfNamed(t *testing.T) {
	for name, test := range map[string]struct {
		installation types.NamespacedName
		waits        string
	}{
		"none":    {types.NamespacedName{}, ""},
		"present": {values, ""},
		"missing": {types.NamespacedName{Namespace: values.Namespace, Name: "deleted"}, "ConfigMap vector-system/deleted does not exist"},
	} {
		t.Run(name, func(t *testing.T) {
			api := newMemoryAPI(t, interceptor.Funcs{}, newInstallation(nil))
			api.options.Installation = test.installation
			api.load(t)
			platform, err := api.Current()
			require.NoError(t, err)
			require.Equal(t, test.waits == "", platform.Unpublished == "")
			require.Contains(t, platform.Unpublished, test.waits)
		})
	}
}

// If the first load fails, Current returns the error. After a successful load, it returns the loaded platform also if a
// later load fails.
func TestReconciler_ReturnsErrorOnlyOfFirstLoad(t *testing.T) {
	rules := newInstallation(map[string]string{desired.RolloutKey: "waves: [{name: first, environments: [staging]}]", desired.PolicyKey: "none: of: this"})
	failure := errors.New("no answer")
	api := newMemoryAPI(t, interceptor.Funcs{
		List: func(ctx context.Context, on client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if _, isRevisions := list.(*appsv1.ControllerRevisionList); isRevisions && failure != nil {
				return failure
			}
			return on.List(ctx, list, options...)
		},
	}, rules)
	_, err := api.Reconcile(t.Context(), reconcile.Request{NamespacedName: catalogKey})
	require.ErrorIs(t, err, failure)
	_, err = api.Current()
	require.ErrorIs(t, err, failure)

	failure = nil
	api.load(t)
	loaded, err := api.Current()
	require.NoError(t, err)
	require.NotNil(t, loaded)
}

// Handwritten ConfigMaps are published after they have not changed for some seconds, although no event arrives then. A
// changed result requests all reconciles.
func TestReconciler_PublishesAfterQuietTime(t *testing.T) {
	api := newMemoryAPI(t, interceptor.Funcs{}, newInstallation(map[string]string{desired.RolloutKey: "maxConcurrent: 1"}), objects.NewVectorSidecar("logs", "shop").Build())
	now := time.Now()
	api.options.Clock = func() time.Time { return now }
	api.settling = desired.NewSettling(5 * time.Second)
	load := func(wantRequested int) time.Duration {
		t.Helper()
		result := api.load(t)
		require.Equal(t, wantRequested, api.requests.Len())
		for range wantRequested {
			request, _ := api.requests.Get()
			api.requests.Done(request)
		}
		return result.RequeueAfter
	}
	limit := func() int { return api.Rules().MaxConcurrent.IntValue() }
	require.Zero(t, load(1))
	require.Equal(t, 1, limit())
	require.Zero(t, load(0))

	stored := &corev1.ConfigMap{}
	require.NoError(t, api.Get(t.Context(), values, stored))
	stored.Data[desired.RolloutKey] = "maxConcurrent: 2"
	require.NoError(t, api.Update(t.Context(), stored))
	require.Equal(t, 5*time.Second, load(1), "the status says why the change waits")
	require.Equal(t, 1, limit())
	now = now.Add(4 * time.Second)
	require.Equal(t, time.Second, load(0), "the clock may be set back")
	now = now.Add(time.Second)
	require.Zero(t, load(1))
	require.Equal(t, 2, limit())
}

// A change of an installation's ConfigMap matters if it changes its content, its template set or an annotation that
// stops writes. Other labels do not matter.
func TestPlatformChanges_IgnoresOtherMetadata(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*corev1.ConfigMap)
		want   bool
	}{
		"another label":  {func(c *corev1.ConfigMap) { c.ResourceVersion, c.Labels = "2", map[string]string{"a": "b"} }, false},
		"a value":        {func(c *corev1.ConfigMap) { c.Data = map[string]string{"staging.yaml": ""} }, true},
		"stopped writes": {func(c *corev1.ConfigMap) { c.Annotations = map[string]string{meta.AnnotationStopWrites: "true"} }, true},
		"value writes": {func(c *corev1.ConfigMap) {
			c.Annotations = map[string]string{meta.AnnotationWrites: meta.WritesStopped}
		}, true},
		"a template set":   {func(c *corev1.ConfigMap) { c.Labels = map[string]string{meta.LabelTemplateSet: "logs"} }, true},
		"a binary content": {func(c *corev1.ConfigMap) { c.BinaryData = map[string][]byte{"geo": {1}} }, true},
	} {
		t.Run(name, func(t *testing.T) {
			before := newInstallation(nil)
			after := before.DeepCopy()
			test.change(after)
			require.Equal(t, test.want, platformChanges().Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after}))
		})
	}
}
