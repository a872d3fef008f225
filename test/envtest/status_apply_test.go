// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// stopped stops the operator for the rest of a test.
func stopped(t *testing.T) {
	t.Helper()
	require.NoError(t, running.Stop())
	t.Cleanup(func() { running = world.RunOperator(options) })
}

// countingWriter returns a Writer, and the number of its requests.
func countingWriter(t *testing.T) (*apply.Writer, *atomic.Int64) {
	t.Helper()
	requests, config := &atomic.Int64{}, rest.CopyConfig(world.Config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(r *http.Request) (*http.Response, error) {
			requests.Add(1)
			return next.RoundTrip(r)
		})
	})
	c, err := client.New(config, client.Options{Scheme: world.Client.Scheme(), Mapper: world.Client.RESTMapper()})
	require.NoError(t, err)
	return apply.New(c), requests
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// newStatus returns a status with two conditions and two workloads.
func newStatus() v1alpha1.VectorSidecarStatus {
	now := metav1.NewTime(time.Unix(1700000000, 0))
	return v1alpha1.VectorSidecarStatus{
		ObservedGeneration: 1, MatchedDeployments: 2, Environment: "development", LastReconcileTime: &now,
		Rollout: &v1alpha1.RolloutStatus{Revision: "one", State: v1alpha1.RolloutProgressing, StartTime: &now},
		Conditions: []metav1.Condition{
			{Type: "Ready", Status: "False", Reason: "Waiting", LastTransitionTime: now},
			{Type: "Error", Status: "True", Reason: "Retrying", LastTransitionTime: now},
		},
		Workloads: []v1alpha1.WorkloadStatus{newWorkloadStatus("cart"), newWorkloadStatus("shop")},
	}
}

func newWorkloadStatus(name string) v1alpha1.WorkloadStatus {
	return v1alpha1.WorkloadStatus{Kind: "Deployment", Name: name, State: v1alpha1.StatePodsOutdated, Reason: "Waiting", Message: "waiting"}
}

// statusManagers returns the field managers of the status.
func statusManagers(object client.Object) []string {
	var managers []string
	for _, entry := range object.GetManagedFields() {
		if entry.Subresource == "status" {
			managers = append(managers, string(entry.Operation)+" "+entry.Manager)
		}
	}
	return managers
}

// The status is applied with one request. A field that the next status lacks is removed, also if an earlier operator
// wrote it without server-side apply.
func TestWriter_AppliesWholeStatus(t *testing.T) {
	stopped(t)
	namespace := world.Namespace(t)
	writer, requests := countingWriter(t)
	stored := func(vs *v1alpha1.VectorSidecar) *v1alpha1.VectorSidecar {
		live := vs.DeepCopy()
		world.Get(t, live)
		return live
	}
	smaller := func(vs *v1alpha1.VectorSidecar) {
		status := newStatus()
		status.Rollout, status.Environment = nil, ""
		status.Conditions, status.Workloads = status.Conditions[:1], status.Workloads[:1]
		vs.Status = status
	}
	created := func(name string) *v1alpha1.VectorSidecar {
		vs := objects.NewVectorSidecar(name, namespace).Selecting("logs", "vector").Build()
		world.Create(t, vs)
		return vs
	}
	requireSmaller := func(live *v1alpha1.VectorSidecar) {
		want := live.DeepCopy()
		smaller(want)
		require.Equal(t, want.Status, live.Status)
		require.Equal(t, []string{"Apply " + meta.StatusManager}, statusManagers(live))
	}

	t.Run("removed fields and items", func(t *testing.T) {
		vs := created("removed")
		vs.Status = newStatus()
		before := requests.Load()
		require.NoError(t, writer.Status(t.Context(), vs))
		require.EqualValues(t, 1, requests.Load()-before)
		require.Equal(t, newStatus(), stored(vs).Status)
		require.Equal(t, stored(vs).ResourceVersion, vs.ResourceVersion)

		smaller(vs)
		require.NoError(t, writer.Status(t.Context(), vs))
		require.EqualValues(t, 2, requests.Load()-before)
		requireSmaller(stored(vs))
	})
	t.Run("equal status", func(t *testing.T) {
		vs := created("equal")
		vs.Status = newStatus()
		require.NoError(t, writer.Status(t.Context(), vs))
		version := vs.ResourceVersion
		vs.Status = newStatus()
		require.NoError(t, writer.Status(t.Context(), vs))
		require.Equal(t, version, vs.ResourceVersion)
		require.Equal(t, version, stored(vs).ResourceVersion)
	})
	t.Run("order of items", func(t *testing.T) {
		vs := created("order")
		for _, order := range [][]string{{"b", "d"}, {"a", "b", "c", "d", "e"}, {"d", "a", "c", "b"}, {"f", "b"}} {
			vs.Status = newStatus()
			vs.Status.Workloads = nil
			for _, name := range order {
				vs.Status.Workloads = append(vs.Status.Workloads, newWorkloadStatus(name))
			}
			want := vs.Status.DeepCopy()
			require.NoError(t, writer.Status(t.Context(), vs))
			require.Equal(t, *want, stored(vs).Status)
		}
	})
	t.Run("spec changed at the same time", func(t *testing.T) {
		vs := created("spec")
		harness.Change(t, world, vs.DeepCopy(), func(vs *v1alpha1.VectorSidecar) {
			vs.Spec.Selector.MatchLabels = map[string]string{"logs": "other"}
			vs.Finalizers = []string{"example.com/another"}
		})
		vs.Status = newStatus()
		require.NoError(t, writer.Status(t.Context(), vs))
		live := stored(vs)
		require.Equal(t, newStatus(), live.Status)
		require.Equal(t, "other", live.Spec.Selector.MatchLabels["logs"])
		require.NoError(t, writer.AddFinalizer(t.Context(), vs))
		require.Contains(t, stored(vs).Finalizers, "example.com/another")
		harness.Change(t, world, vs.DeepCopy(), func(vs *v1alpha1.VectorSidecar) { vs.Finalizers = nil })
	})
	t.Run("status of an operator before server-side apply", func(t *testing.T) {
		vs := created("upgrade")
		original := vs.DeepCopy()
		vs.Status = newStatus()
		require.NoError(t, world.Client.Status().Patch(t.Context(), vs, client.MergeFrom(original), client.FieldOwner(meta.Operator)))
		smaller(vs)
		before := requests.Load()
		require.NoError(t, writer.Status(t.Context(), vs))
		require.EqualValues(t, 3, requests.Load()-before, "two applies, and the takeover of the fields")
		requireSmaller(stored(vs))
		require.Equal(t, stored(vs).ResourceVersion, vs.ResourceVersion)

		require.NoError(t, writer.Status(t.Context(), vs))
		require.EqualValues(t, 4, requests.Load()-before, "the takeover is done once")
	})
	t.Run("rollback to an operator before server-side apply and upgrade", func(t *testing.T) {
		vs := created("rollback")
		vs.Status = newStatus()
		require.NoError(t, writer.Status(t.Context(), vs))
		original := vs.DeepCopy()
		vs.Status.Rollout, vs.Status.Reverted = nil, &v1alpha1.RevertedSpec{Generation: 1, RevertTime: metav1.NewTime(time.Unix(1700000001, 0))}
		vs.Status.Workloads = vs.Status.Workloads[1:]
		want := vs.Status.DeepCopy()
		require.NoError(t, world.Client.Status().Patch(t.Context(), vs, client.MergeFrom(original), client.FieldOwner(meta.Operator)))
		require.Equal(t, *want, stored(vs).Status)

		smaller(vs)
		require.NoError(t, writer.Status(t.Context(), vs))
		requireSmaller(stored(vs))
	})
	t.Run("status of another client", func(t *testing.T) {
		vs := created("restored")
		original := vs.DeepCopy()
		vs.Status = newStatus()
		require.NoError(t, world.Client.Status().Patch(t.Context(), vs, client.MergeFrom(original), client.FieldOwner("velero")))
		smaller(vs)
		require.NoError(t, writer.Status(t.Context(), vs))
		requireSmaller(stored(vs))
	})
	t.Run("deleted object", func(t *testing.T) {
		vs := created("deleted")
		vs.Status = newStatus()
		require.NoError(t, world.Client.Delete(t.Context(), vs))
		require.NoError(t, writer.Status(t.Context(), vs))
	})
	t.Run("ClusterVectorSidecar", func(t *testing.T) {
		cluster := &v1alpha1.ClusterVectorSidecar{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
		cluster.Spec.Selector.MatchLabels = map[string]string{"logs": "vector"}
		cluster.Spec.NamespaceSelector.MatchLabels = map[string]string{"none": namespace}
		world.Create(t, cluster)
		cluster.Status.Conditions, cluster.Status.SelectedNamespaces = newStatus().Conditions, 1
		require.NoError(t, writer.ClusterStatus(t.Context(), cluster))
		cluster.Status.Conditions = cluster.Status.Conditions[:1]
		require.NoError(t, writer.ClusterStatus(t.Context(), cluster))
		live := cluster.DeepCopy()
		world.Get(t, live)
		require.Equal(t, cluster.Status, live.Status)
		require.Len(t, live.Status.Conditions, 1)
		require.NoError(t, world.Client.Delete(context.Background(), cluster))
	})
}
