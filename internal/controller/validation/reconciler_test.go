// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clientevents "k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/events"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/notify"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/sidecarcache"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// indexes adds indexes to a fake client.
type indexes struct{ builder *fake.ClientBuilder }

func (i indexes) IndexField(_ context.Context, object client.Object, field string, keys client.IndexerFunc) error {
	i.builder.WithIndex(object, field, keys)
	return nil
}

// The validation Job of a ClusterVectorSidecar has no owner reference. The operator finds the VectorSidecar by the
// Job's label and records the result.
func TestReconciler_RecordsResultOfFinishedJob(t *testing.T) {
	sidecar := &v1alpha1.VectorSidecar{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "logs", UID: "1"}}
	cluster := &v1alpha1.ClusterVectorSidecar{ObjectMeta: metav1.ObjectMeta{Name: "logs", UID: "2"}}
	ended := func(kind batchv1.JobConditionType) []batchv1.JobCondition {
		return []batchv1.JobCondition{{Type: kind, Status: corev1.ConditionTrue, Reason: "DeadlineExceeded", Message: "too slow"}}
	}
	for name, test := range map[string]struct {
		sidecar    string
		conditions []batchv1.JobCondition
		want       decision.VerdictState
		isPending  bool
	}{
		"running":                   {sidecar: "logs", isPending: true},
		"complete":                  {sidecar: "logs", conditions: ended(batchv1.JobComplete), want: decision.VerdictValid},
		"failed without an answer":  {sidecar: "logs", conditions: ended(batchv1.JobFailed), want: decision.VerdictUnable},
		"of a ClusterVectorSidecar": {sidecar: meta.ClusterSidecarName("logs"), conditions: ended(batchv1.JobComplete), want: decision.VerdictValid},
	} {
		t.Run(name, func(t *testing.T) {
			scheme := runtime.NewScheme()
			require.NoError(t, errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)))
			job := &batchv1.Job{
				ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "check", Labels: map[string]string{meta.LabelValidation: "key", meta.LabelValidated: meta.LabelValue(test.sidecar)}},
				Status:     batchv1.JobStatus{Conditions: test.conditions},
			}
			namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}
			builder := fake.NewClientBuilder().WithScheme(scheme).WithObjects(sidecar, cluster, namespace, job)
			require.NoError(t, sidecarcache.AddIndexes(t.Context(), indexes{builder}))
			api := builder.Build()
			sent, memory, notifier := clientevents.NewFakeRecorder(1), state.New(time.Now), &notify.Notifier{}
			queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
			t.Cleanup(queue.ShutDown)
			require.NoError(t, notifier.Source().Start(t.Context(), queue))
			r := New(Options{
				Cached: api, Live: livelist.New(api), Sidecars: sidecarcache.New(api, livelist.New(api), "", true), Memory: memory, Writer: apply.New(api),
				Recorder: events.New(sent, scheme, nil, nil), Notifier: notifier,
			})

			_, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(job)})

			require.NoError(t, err)
			key := types.NamespacedName{Namespace: "shop", Name: test.sidecar}
			require.Equal(t, test.want, memory.GetOrCreate(key).Verdict("key").State)
			err = api.Get(t.Context(), client.ObjectKeyFromObject(job), &batchv1.Job{})
			if test.isPending {
				require.NoError(t, err, "the Job runs")
				require.Zero(t, queue.Len())
				return
			}
			require.True(t, apierrors.IsNotFound(err), "the Job is deleted")
			require.Equal(t, 1, queue.Len(), "the VectorSidecar is reconciled")
		})
	}
}
