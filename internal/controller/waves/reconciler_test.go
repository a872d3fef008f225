// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package waves

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clientevents "k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/clusterwide"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/catalog"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/events"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/notify"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/sidecarcache"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// values is the name of the ConfigMap with the rollout rules.
var values = types.NamespacedName{Namespace: "vector-system", Name: "values"}

// installation is an installation with a VectorSidecar in each of two waves: canary/logs and other/logs. A
// ClusterVectorSidecar is in both.
type installation struct {
	client.WithWatch

	*Reconciler
	t         *testing.T
	platforms *catalog.Reconciler
	// requests are the reconciles that the Reconciler has requested.
	requests workqueue.TypedRateLimitingInterface[reconcile.Request]
	// unreadable is the error of reading namespaces.
	unreadable error
}

func newInstallation(t *testing.T, rules string, objects ...client.Object) *installation {
	t.Helper()
	scheme := runtime.NewScheme()
	require.NoError(t, errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)))
	objects = append(objects, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: values.Namespace, Name: values.Name, UID: "values"}, Data: map[string]string{desired.RolloutKey: rules}})
	for _, name := range []string{"canary", "other"} {
		objects = append(objects, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"wave": name}}})
	}
	api := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithStatusSubresource(&v1alpha1.VectorSidecar{}).Build()
	files, err := render.ReadFiles(vectorsidecar.FS)
	require.NoError(t, err)
	sets, err := desired.NewCatalog(files)
	require.NoError(t, err)
	i := &installation{WithWatch: api, t: t, requests: workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())}
	t.Cleanup(i.requests.ShutDown)
	waves, memory, metrics := state.NewWaves(), state.New(time.Now), telemetry.NewMetrics("1", time.Now)
	recorder := events.New(clientevents.NewFakeRecorder(10), scheme, nil, metrics)
	sidecars, notifier := sidecarcache.New(api, livelist.New(api), values.Namespace, true), &notify.Notifier{}
	require.NoError(t, notifier.Source().Start(t.Context(), i.requests))
	platforms := catalog.New(&catalog.Options{
		Cached: api, Live: livelist.NewPager().Client(api), Writer: apply.New(api), Sidecars: sidecars, Events: recorder, Metrics: metrics, Backoff: memory.Backoff,
		Waves: waves, Notifier: &notify.Notifier{}, Catalog: sets, Namespace: values.Namespace, Installation: values, Quiet: -1, Clock: time.Now,
	})
	i.platforms = platforms
	i.Reconciler = New(Options{
		Sidecars: sidecars, Catalog: platforms, Memory: memory, Waves: waves, Notifier: notifier, Events: recorder, Metrics: metrics, Installation: values,
		NamespaceLabels: func(_ context.Context, name string) (map[string]string, error) {
			return map[string]string{"wave": name}, i.unreadable
		},
	})
	i.load()
	return i
}

// load loads the platform.
func (i *installation) load() {
	i.t.Helper()
	_, err := i.platforms.Reconcile(i.t.Context(), reconcile.Request{})
	require.NoError(i.t, err)
}

// check checks the waves, and returns the gate of the second wave and the requested reconciles.
func (i *installation) check() (gate fleet.Gate, woken []string) {
	i.t.Helper()
	_, err := i.Reconcile(i.t.Context(), reconcile.Request{})
	require.Equal(i.t, i.unreadable, err)
	for i.requests.Len() > 0 {
		request, _ := i.requests.Get()
		i.requests.Done(request)
		woken = append(woken, request.String())
	}
	slices.Sort(woken)
	platform, err := i.Catalog.Current()
	require.NoError(i.t, err)
	return i.Waves.Current().Gate(fleet.WaveMember{Wave: 1}, &platform.Target, time.Now()), woken
}

// logs returns the VectorSidecar of a namespace with a rollout status.
func logs(namespace string, rollout *v1alpha1.RolloutStatus) *v1alpha1.VectorSidecar {
	sidecar := objects.NewVectorSidecar("logs", namespace).Build()
	sidecar.ResourceVersion, sidecar.Generation, sidecar.Status.Rollout = "", 1, rollout
	return sidecar
}

const twoWaves = "waves: [{name: canary, namespaceSelector: {matchLabels: {wave: canary}}}]\nhalt: {failedWorkloads: 1}"

var reconciled = state.WaveProgress{Generation: 1}

// A wave opens only after each VectorSidecar has been reconciled once, also without success, and those of earlier waves
// have finished the target revision.
func TestReconciler_OpensWaveAfterAllReports(t *testing.T) {
	old := &v1alpha1.RolloutStatus{Revision: "old", CompletionTime: &metav1.Time{Time: time.Now()}}
	i := newInstallation(t, twoWaves, logs("canary", old), logs("other", old))
	canary, other := types.NamespacedName{Namespace: "canary", Name: "logs"}, types.NamespacedName{Namespace: "other", Name: "logs"}
	const isUnknown = "waiting for the first reconcile of all VectorSidecars since the start of the operator"
	gate, _ := i.check()
	require.Equal(t, isUnknown, gate.Message)
	i.Waves.RecordFailure(other)
	gate, woken := i.check()
	require.Equal(t, isUnknown, gate.Message)
	require.Empty(t, woken)

	i.Waves.Record(canary, reconciled)
	gate, woken = i.check()
	require.Contains(t, gate.Message, "waiting for VectorSidecar canary/logs of wave canary to finish revision ")
	require.Equal(t, []string{"canary/logs", "other/logs"}, woken)

	platform, err := i.Catalog.Current()
	require.NoError(t, err)
	i.Memory.GetOrCreate(canary).SetRollout(&v1alpha1.RolloutStatus{Revision: platform.Target.Revision, CompletionTime: old.CompletionTime})
	gate, woken = i.check()
	require.True(t, gate.IsOpen, "the progress is not in the cache yet")
	require.Equal(t, []string{"other/logs"}, woken)

	added := logs("canary", nil)
	added.Name = "added"
	require.NoError(t, i.Create(t.Context(), added))
	gate, _ = i.check()
	require.True(t, gate.IsOpen, "a VectorSidecar without a revision is not awaited")
}

// The members of the waves change: VectorSidecars are deleted or get another spec, or a namespace cannot be read.
func TestReconciler_ReadsMembers(t *testing.T) {
	now := &metav1.Time{Time: time.Now()}
	old := &v1alpha1.RolloutStatus{Revision: "old", CompletionTime: now}
	for name, test := range map[string]struct {
		change func(i *installation, canary *v1alpha1.VectorSidecar)
		isOpen bool
	}{
		"not finished": {func(*installation, *v1alpha1.VectorSidecar) {}, false},
		"finished":     {func(i *installation, canary *v1alpha1.VectorSidecar) { i.finish(canary) }, true},
		"changed spec": {func(i *installation, canary *v1alpha1.VectorSidecar) {
			i.finish(canary)
			canary.Generation = 2
			require.NoError(i.t, i.Update(i.t.Context(), canary))
		}, false},
		"changed spec, failed reconcile": {func(i *installation, canary *v1alpha1.VectorSidecar) {
			i.finish(canary)
			canary.Generation = 2
			require.NoError(i.t, i.Update(i.t.Context(), canary))
			i.Waves.RecordFailure(client.ObjectKeyFromObject(canary))
		}, true},
		"deletion in progress": {func(i *installation, canary *v1alpha1.VectorSidecar) {
			require.NoError(i.t, i.Delete(i.t.Context(), canary))
		}, true},
		"unreadable namespace": {func(i *installation, canary *v1alpha1.VectorSidecar) {
			i.finish(canary)
			i.unreadable = errors.New("no")
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			canary := logs("canary", old)
			canary.Finalizers = []string{"a/finalizer"}
			i := newInstallation(t, twoWaves, canary, logs("other", old))
			i.check()
			for _, namespace := range []string{"canary", "other"} {
				i.Waves.Record(types.NamespacedName{Namespace: namespace, Name: "logs"}, reconciled)
			}
			require.NoError(t, i.Get(t.Context(), client.ObjectKeyFromObject(canary), canary))
			test.change(i, canary)
			gate, _ := i.check()
			require.Equal(t, test.isOpen, gate.IsOpen, gate.Message)
		})
	}
}

// finish records that a VectorSidecar has finished the target revision.
func (i *installation) finish(sidecar *v1alpha1.VectorSidecar) {
	platform, err := i.Catalog.Current()
	require.NoError(i.t, err)
	status := v1alpha1.RolloutStatus{Revision: platform.Target.Revision, CompletionTime: &metav1.Time{Time: time.Now()}}
	i.Memory.GetOrCreate(client.ObjectKeyFromObject(sidecar)).SetRollout(&status)
}

// A ClusterVectorSidecar is a member of each wave with one of its namespaces, unless its selector is invalid.
func TestReconciler_ReadsClusterVectorSidecars(t *testing.T) {
	cluster := &v1alpha1.ClusterVectorSidecar{ObjectMeta: metav1.ObjectMeta{Name: "all", UID: "all", Generation: 1}}
	cluster.Status.Waves = []v1alpha1.RolloutStatus{{Wave: "canary", Revision: "old"}, {Wave: fleet.DefaultWave, Revision: "old"}}
	i := newInstallation(t, twoWaves, cluster)
	i.check()
	i.Waves.Record(clusterwide.ClusterKey("all"), reconciled)
	gate, woken := i.check()
	require.Contains(t, gate.Message, "waiting for ClusterVectorSidecar all of wave canary to finish revision ")
	require.Len(t, woken, 1)
	require.Equal(t, []fleet.WaveCount{{Wave: "canary", Waiting: 1}, {Wave: fleet.DefaultWave, Waiting: 1}}, i.Waves.Current().Count())

	require.NoError(t, i.Get(t.Context(), client.ObjectKeyFromObject(cluster), cluster))
	cluster.Spec.NamespaceSelector.MatchLabels = map[string]string{"wave": "not a label's value"}
	require.NoError(t, i.Update(t.Context(), cluster))
	gate, _ = i.check()
	require.True(t, gate.IsOpen, gate.Message)
}

// The rules get no waves. After they get some again, all VectorSidecars are awaited again.
func TestReconciler_DropsWavesWithoutRules(t *testing.T) {
	i := newInstallation(t, twoWaves, logs("canary", nil))
	i.check()
	i.Waves.Record(types.NamespacedName{Namespace: "canary", Name: "logs"}, reconciled)
	gate, _ := i.check()
	require.True(t, gate.IsOpen)
	for _, rules := range []string{"", twoWaves} {
		rollout := &corev1.ConfigMap{}
		require.NoError(t, i.Get(t.Context(), values, rollout))
		rollout.Data[desired.RolloutKey] = rules
		require.NoError(t, i.Update(t.Context(), rollout))
		i.load()
		gate, _ = i.check()
		require.False(t, gate.IsOpen)
	}
}
