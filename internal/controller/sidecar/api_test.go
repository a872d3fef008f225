// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"context"
	"errors"
	"slices"
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
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/clusterwide"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/clustersidecar"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/events"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/instrument"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/sidecarcache"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/waves"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// memoryAPI is an in-memory API with a VectorSidecarReconciler. It gives responses that a real API server does not
// give on demand.
type memoryAPI struct {
	client.WithWatch

	*VectorSidecarReconciler
	events *clientevents.FakeRecorder
	// waiting has the reconciles that have been requested.
	waiting queue
	// clock is the clock of the API server.
	clock func() time.Time
}

// values is the name of the ConfigMap with the installation's values.
var values = types.NamespacedName{Namespace: "vector-system", Name: "values"}

// pacing returns the ConfigMap of the installation with rollout rules.
func pacing(rules string) client.Object {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: values.Namespace, Name: values.Name, UID: "values"}, Data: map[string]string{desired.RolloutKey: rules}}
}

// clusterSidecar returns a ClusterVectorSidecar that selects all workloads with a label in some namespaces.
func clusterSidecar(name, label string, namespaces ...string) *v1alpha1.ClusterVectorSidecar {
	cluster := &v1alpha1.ClusterVectorSidecar{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Generation: 1}}
	cluster.Spec.Selector = metav1.LabelSelector{MatchLabels: map[string]string{"logs": label}}
	cluster.Spec.NamespaceSelector = metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{requirement(corev1.LabelMetadataName, "In", namespaces...)}}
	return cluster
}

func namespace(name string) client.Object {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelMetadataName: name}}}
}

// newMemoryAPI returns an API with some objects. The cache of the VectorSidecarReconciler returns the same as
// informers would.
func newMemoryAPI(t *testing.T, faults interceptor.Funcs, there ...client.Object) *memoryAPI {
	t.Helper()
	if !slices.ContainsFunc(there, func(object client.Object) bool {
		_, is := object.(*corev1.Namespace)
		return is && object.GetName() == "shop"
	}) {
		there = append(there, namespace("shop"))
	}
	if !slices.ContainsFunc(there, func(object client.Object) bool { return client.ObjectKeyFromObject(object) == values }) {
		there = append(there, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: values.Namespace, Name: values.Name}})
	}
	known := runtime.NewScheme()
	require.NoError(t, errors.Join(clientgoscheme.AddToScheme(known), v1alpha1.AddToScheme(known)))
	builder := fake.NewClientBuilder().WithScheme(known).WithReturnManagedFields().WithObjects(there...).
		WithStatusSubresource(&v1alpha1.VectorSidecar{}, &v1alpha1.ClusterVectorSidecar{}).WithInterceptorFuncs(faults)
	require.NoError(t, sidecarcache.AddIndexes(t.Context(), indexing{builder}))
	live := builder.Build()
	files, err := render.ReadFiles(vectorsidecar.FS)
	require.NoError(t, err)
	sets, err := desired.NewCatalog(files)
	require.NoError(t, err)
	recorder := clientevents.NewFakeRecorder(100)
	a := &memoryAPI{WithWatch: live, events: recorder, clock: time.Now, waiting: workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())}
	t.Cleanup(a.waiting.ShutDown)
	a.VectorSidecarReconciler = newReconciler(digesting{live}, livelist.NewPager().Client(live), nil, events.New(recorder, known, nil, nil), &Options{
		Workloads: workloadcache.New(), Catalog: sets, Settings: desired.Settings{Home: values.Namespace, DefaultEnvironment: "development", KubeVersion: "v1.36.0"},
		Installation: values, ClusterSidecars: true,
		Cache: desired.NewCache(), Instruments: instrument.Instruments{Metrics: telemetry.NewMetrics("1", time.Now), Reports: telemetry.NewNoopReporter()}, Clock: func() time.Time { return a.clock() }, Quiet: -1,
	})
	require.NoError(t, a.periodic.notifier.Source().Start(t.Context(), a.waiting))
	require.NoError(t, a.periodic.notifier.ClusterScoped.Source().Start(t.Context(), a.waiting))
	a.sync(t)
	return a
}

// load loads the platform, as after an event of one of its ConfigMaps.
func (a *memoryAPI) load(t *testing.T) {
	t.Helper()
	require.NoError(t, a.loadPlatform(t.Context()))
}

// loadPlatform loads the platform, checks its waves, and drops the reconciles that this requests, because tests request
// them.
func (a *memoryAPI) loadPlatform(ctx context.Context) error {
	isEmpty := a.waiting.Len() == 0
	_, err := a.rollouts.catalog.Reconcile(ctx, reconcile.Request{})
	err = errors.Join(err, a.checkWaves(ctx))
	for isEmpty && a.waiting.Len() > 0 {
		request, _ := a.waiting.Get()
		a.waiting.Done(request)
	}
	return err
}

// checkWaves checks the waves.
func (a *memoryAPI) checkWaves(ctx context.Context) error {
	_, err := findSubcontroller[*waves.Reconciler](a).Reconcile(ctx, reconcile.Request{})
	return err
}

// findSubcontroller returns the other controller of a type.
func findSubcontroller[T subcontroller](a *memoryAPI) T {
	i := slices.IndexFunc(a.subcontrollers, func(other subcontroller) bool {
		_, ok := other.(T)
		return ok
	})
	return a.subcontrollers[i].(T) //nolint:forcetypeassert // The line above checks it.
}

// Reconcile reconciles a VectorSidecar or a ClusterVectorSidecar after the events of the platform's ConfigMaps, and checks
// the waves.
func (a *memoryAPI) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	if err := a.loadPlatform(ctx); err != nil {
		return reconcile.Result{}, err
	}
	reconciler := reconcile.Reconciler(a.VectorSidecarReconciler)
	if request.Namespace == "" {
		reconciler = findSubcontroller[*clustersidecar.Reconciler](a)
	}
	result, err := reconciler.Reconcile(ctx, request)
	if checkErr := a.checkWaves(ctx); checkErr != nil {
		return reconcile.Result{}, checkErr
	}
	return result, err
}

// sync brings the workload cache up to date with the API.
func (a *memoryAPI) sync(t *testing.T) {
	t.Helper()
	var all appsv1.DeploymentList
	require.NoError(t, a.List(t.Context(), &all))
	for i := range all.Items {
		a.snapshots.workloads.Put(a.snapshots.workloads.Reduce(&all.Items[i]))
	}
	a.snapshots.workloads.SetSynced()
}

// once reconciles a VectorSidecar of namespace shop once.
func (a *memoryAPI) once(t *testing.T, name string) (reconcile.Result, error) {
	t.Helper()
	return a.Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "shop", Name: name}})
}

// onceCluster reconciles a ClusterVectorSidecar itself once.
func (a *memoryAPI) onceCluster(t *testing.T, name string) error {
	t.Helper()
	_, err := a.Reconcile(t.Context(), reconcile.Request{NamespacedName: clusterwide.ClusterKey(name)})
	return err
}

// indexing adds the indexes of the operator's cache to an in-memory client.
type indexing struct{ *fake.ClientBuilder }

func (i indexing) IndexField(_ context.Context, object client.Object, name string, keys client.IndexerFunc) error {
	i.WithIndex(object, name, keys)
	return nil
}

// digesting returns ConfigMaps as the operator's cache holds them.
type digesting struct{ client.WithWatch }

func (d digesting) Get(ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	err := d.WithWatch.Get(ctx, key, into, options...)
	if object, is := into.(*corev1.ConfigMap); is && err == nil {
		reduced, err := DigestConfigMaps("vector-system")(object.DeepCopy())
		if err != nil {
			return err
		}
		reduced.(*corev1.ConfigMap).DeepCopyInto(object)
	}
	return err
}

func (d digesting) List(ctx context.Context, into client.ObjectList, options ...client.ListOption) error {
	err := d.WithWatch.List(ctx, into, options...)
	if list, is := into.(*corev1.ConfigMapList); is && err == nil {
		for i := range list.Items {
			reduced, err := DigestConfigMaps("vector-system")(list.Items[i].DeepCopy())
			if err != nil {
				return err
			}
			reduced.(*corev1.ConfigMap).DeepCopyInto(&list.Items[i])
		}
	}
	return err
}
