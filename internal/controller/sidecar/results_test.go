// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// The status counts the sidecars that workloads have, not those that are only planned.
func TestStatusWriter_CountsOnlyWrittenSidecars(t *testing.T) {
	conflict := apierrors.NewConflict(schema.GroupResource{Group: "apps", Resource: "deployments"}, "bad", nil)
	gone := apierrors.NewNotFound(schema.GroupResource{Group: "apps", Resource: "deployments"}, "bad")
	denied := apierrors.NewForbidden(schema.GroupResource{Group: "apps", Resource: "deployments"}, "bad", nil)
	onWorkload := func(err error) interceptor.Funcs {
		return interceptor.Funcs{Patch: func(ctx context.Context, api client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			if object.GetName() == "bad" {
				return err
			}
			return api.Patch(ctx, object, patch, options...)
		}}
	}
	onCompanion := func(err error) interceptor.Funcs {
		return interceptor.Funcs{Create: func(ctx context.Context, api client.WithWatch, object client.Object, options ...client.CreateOption) error {
			if _, ok := object.(*corev1.ConfigMap); ok && object.GetNamespace() == "shop" {
				return err
			}
			return api.Create(ctx, object, options...)
		}}
	}
	for name, test := range map[string]struct {
		answers interceptor.Funcs
		written int32
		reason  string
	}{
		"all written":            {interceptor.Funcs{}, 2, ""},
		"conflict":               {onWorkload(conflict), 1, meta.ReasonRetrying},
		"workload gone":          {onWorkload(gone), 1, meta.ReasonRetrying},
		"denied":                 {onWorkload(denied), 1, meta.ReasonRetrying},
		"ConfigMap not written":  {onCompanion(denied), 0, meta.ReasonRetrying},
		"ConfigMap of the other": {onCompanion(conflict), 0, meta.ReasonRetrying},
	} {
		t.Run(name, func(t *testing.T) {
			deployment := func(name string) *appsv1.Deployment {
				object := objects.NewDeployment(name, "shop").Labeled("logs", "vector").Build()
				object.ResourceVersion, object.UID = "", types.UID(name)
				return object
			}
			vs := objects.NewVectorSidecar("logs", "shop").Selecting("logs", "vector").WithSoak(0).WithMaxConcurrent("100%").Build()
			api := newMemoryAPI(t, test.answers, vs)
			for _, name := range []string{"good", "bad"} {
				require.NoError(t, api.Create(t.Context(), deployment(name), client.FieldOwner("kubectl")))
			}
			api.sync(t)
			for range 3 {
				_, _ = api.once(t, "logs") // Some responses are errors of the reconcile, too.
			}

			injected := int32(0)
			var live appsv1.DeploymentList
			require.NoError(t, api.List(t.Context(), &live, client.InNamespace("shop")))
			for i := range live.Items {
				pod := &live.Items[i].Spec.Template.Spec
				if slices.ContainsFunc(slices.Concat(pod.InitContainers, pod.Containers), func(c corev1.Container) bool { return c.Name == "vector" }) {
					injected++
				}
			}
			require.Equal(t, test.written, injected)
			var found v1alpha1.VectorSidecar
			require.NoError(t, api.Get(t.Context(), client.ObjectKeyFromObject(vs), &found))
			found.Status = *api.memory.GetOrCreate(client.ObjectKeyFromObject(vs)).Status(&found)
			require.EqualValues(t, 2, found.Status.MatchedWorkloads)
			require.Equal(t, injected, found.Status.InjectedWorkloads)
			require.Equal(t, injected, found.Status.InjectedDeployments)
			require.Equal(t, injected, found.Status.Kinds[0].Injected)
			for _, entry := range found.Status.Workloads {
				if entry.Name == "bad" && test.reason != "" {
					require.Equal(t, test.reason, entry.Reason)
					require.Contains(t, []v1alpha1.WorkloadState{v1alpha1.StateWaiting, v1alpha1.StateRejected}, entry.State)
				}
			}
		})
	}
}
