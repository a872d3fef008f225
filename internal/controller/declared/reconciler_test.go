// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package declared

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clientevents "k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/events"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/declared"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
)

// During a reconcile, an uninstallation sets its annotation and deletes the object. The reconcile does not create the
// object again.
func TestReconciler_CreatesNothingAfterUninstallationStarts(t *testing.T) {
	scheme := runtime.NewScheme()
	require.NoError(t, errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)))
	installation, key := types.NamespacedName{Namespace: "vector-system", Name: "values"}, types.NamespacedName{Namespace: "shop", Name: "logs"}
	values := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: installation.Namespace, Name: installation.Name}, Data: map[string]string{
		declared.Key: "{items: {shop/logs: {selector: {matchLabels: {logs: vector}}}}}",
	}}
	logs := &v1alpha1.VectorSidecar{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	isStarted := false
	byName := func(object client.Object) []string { return []string{object.GetName()} }
	api := fake.NewClientBuilder().WithScheme(scheme).WithObjects(values, logs, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}).
		WithIndex(&corev1.ConfigMap{}, metav1.ObjectNameField, byName).WithIndex(&v1alpha1.VectorSidecar{}, metav1.ObjectNameField, byName).
		WithInterceptorFuncs(interceptor.Funcs{
			List: func(ctx context.Context, on client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
				if _, isSidecars := list.(*v1alpha1.VectorSidecarList); isSidecars && !isStarted {
					isStarted = true
					uninstalling := values.DeepCopy()
					uninstalling.Annotations = map[string]string{meta.AnnotationUninstalling: "true"}
					require.NoError(t, errors.Join(on.Update(ctx, uninstalling), on.Delete(ctx, logs)))
				}
				return on.List(ctx, list, options...)
			},
		}).Build()
	metrics := telemetry.NewMetrics("1", time.Now)
	r := New(Options{
		Cached: api, Live: livelist.NewPager().Client(api), Writer: apply.New(api), Recorder: events.New(clientevents.NewFakeRecorder(10), scheme, nil, metrics),
		Metrics: metrics, Backoff: state.New(time.Now).Backoff, Installation: installation,
	})

	_, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: key})
	require.NoError(t, err)
	require.True(t, isStarted)
	require.True(t, apierrors.IsNotFound(api.Get(t.Context(), key, logs)))
}
