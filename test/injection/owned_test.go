// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package injection

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// ownedBy returns a workload with the controller owner Kafka orders and an application image.
func ownedBy(t *testing.T, kind, name, namespace, image string) client.Object {
	t.Helper()
	object := objects.NewWorkload(kind, name, namespace, map[string]string{"logs": "vector"})
	isController := true
	object.SetOwnerReferences([]metav1.OwnerReference{{
		APIVersion: "kafka.strimzi.io/v1beta2", Kind: "Kafka", Name: "orders", UID: types.UID("0d3b-" + name), Controller: &isController,
	}})
	template(object).Spec.Containers[0].Image = image
	t.Cleanup(func() {
		require.NoError(t, client.IgnoreNotFound(world.Client.Delete(context.WithoutCancel(t.Context()), object)))
	})
	return object
}

// kindOf returns the adapter of a workload's kind.
func kindOf(object client.Object) *workload.Kind {
	one, _ := workload.ToObject(object)
	return workload.KindByName(workload.NewRef(one).Kind)
}

// anOwner is a controller owner. At each event of a workload that differs from its target, it replaces the whole
// workload.
type anOwner struct {
	want   atomic.Pointer[client.Object]
	writes atomic.Int32
	// isIdle is true while events are ignored.
	isIdle atomic.Bool
}

// follow creates the workload and replaces it at each event until the test ends.
func (o *anOwner) follow(t *testing.T, want client.Object) {
	t.Helper()
	o.want.Store(&want)
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(kindOf(want).GroupVersionKind)
	ctx := t.Context()
	world.Watch(t, list, func(client.Object) {
		if o.isIdle.Load() {
			return
		}
		if err := o.write(ctx); err != nil && ctx.Err() == nil {
			t.Error(err)
		}
	}, client.InNamespace(want.GetNamespace()))
	made, _ := want.DeepCopyObject().(client.Object)
	require.NoError(t, world.Client.Create(t.Context(), made, client.FieldOwner("strimzi-cluster-operator")))
}

func (o *anOwner) write(ctx context.Context) error {
	again, _ := (*o.want.Load()).DeepCopyObject().(client.Object)
	live, _ := again.DeepCopyObject().(client.Object)
	if err := world.Client.Get(ctx, client.ObjectKeyFromObject(live), live); err != nil {
		return client.IgnoreNotFound(err)
	}
	image := template(again).Spec.Containers[0].Image
	if !has(live, "vector") && template(live).Spec.Containers[0].Image == image {
		return nil
	}
	o.writes.Add(1)
	again.SetResourceVersion(live.GetResourceVersion())
	// The annotation of the Deployment controller is kept: without it, that controller would set it again at once,
	// and the loop of writes would not end.
	if revision, isThere := live.GetAnnotations()["deployment.kubernetes.io/revision"]; isThere {
		again.SetAnnotations(map[string]string{"deployment.kubernetes.io/revision": revision})
	}
	if err := world.Client.Update(ctx, again, client.FieldOwner("strimzi-cluster-operator")); !apierrors.IsConflict(err) {
		return client.IgnoreNotFound(err)
	}
	return nil
}

// deploys sets another target image.
func (o *anOwner) deploys(t *testing.T, image string) {
	t.Helper()
	next, _ := (*o.want.Load()).DeepCopyObject().(client.Object)
	template(next).Spec.Containers[0].Image = image
	o.want.Store(&next)
	require.NoError(t, o.write(t.Context()))
}

// templates counts the pod templates of all revisions of a namespace's workloads.
func templates(t *testing.T, namespace, kind string) int {
	t.Helper()
	if kind == "Deployment" {
		return revisions(t, namespace)
	}
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(kindOf(objects.NewWorkload(kind, "x", namespace, nil)).GroupVersion().WithKind("ControllerRevision"))
	require.NoError(t, world.Client.List(t.Context(), list, client.InNamespace(namespace)))
	return len(list.Items)
}

// A controller owner replaces the whole workload in each write, and the API server injects the sidecar into each of
// them. The operator does not write the sidecar itself, so no rollout happens for the sidecar alone.
func TestOwnedAtAdmission_InjectsInWritesOfController(t *testing.T) {
	t.Parallel()
	for _, kind := range []v1alpha1.WorkloadKind{"StatefulSet", "Deployment"} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			namespace := world.Namespace(t)
			early := ownedBy(t, string(kind), "early", namespace, "app:1")
			world.Create(t, early)
			vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").For(kind).WithSoak(0).Build()
			vs.Spec.OwnedWorkloads = v1alpha1.OwnedAtAdmission
			world.Create(t, vs)
			awaitOverlay(t, vs)
			untilActive(t, ownedBy(t, string(kind), "any", namespace, "app:1"), "vector")
			harness.Until(t, world, vs, "the workload left to its owner", func(vs *v1alpha1.VectorSidecar) bool {
				return len(vs.Status.Workloads) == 1 && vs.Status.Workloads[0].State == v1alpha1.StateDeferred && vs.Status.Workloads[0].Reason == meta.ReasonOwnedBy
			})
			require.Contains(t, vs.Status.Workloads[0].Message, "Kafka.kafka.strimzi.io/orders owns the workload: the API server injects the sidecar with the owner's next change")

			owner := &anOwner{}
			owner.follow(t, ownedBy(t, string(kind), "orders", namespace, "app:1"))
			live := ownedBy(t, string(kind), "orders", namespace, "")
			world.Get(t, live)
			require.True(t, has(live, "vector"))
			harness.Until(t, world, vs, "a finished rollout", func(vs *v1alpha1.VectorSidecar) bool { return isCounted(vs, 1) })
			require.Equal(t, 1, templates(t, namespace, string(kind))-1, "that of the early one, and its own")

			// The operator and the controller owner do not cause a loop of writes.
			below := "/namespaces/" + namespace + "/" + kindOf(live).Resource + "/"
			require.LessOrEqual(t, len(running.Requests.Writes(below+"orders")), 2)
			require.LessOrEqual(t, owner.writes.Load(), int32(20), "each is an event of the workload's status, or one of ours")
			owner.isIdle.Store(true)

			// A changed sidecar waits for the controller owner's next write and is in the same rollout.
			harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: "trace"} })
			harness.Until(t, world, vs, "the waiting state of both", func(vs *v1alpha1.VectorSidecar) bool {
				return vs.Status.ObservedGeneration == vs.Generation && len(vs.Status.Workloads) == 2 && vs.Status.Workloads[1].Reason == meta.ReasonOwnedBy
			})
			before := ownedBy(t, string(kind), "any", namespace, "app:1")
			harness.Eventually(t, "a policy with the other sidecar", func() bool {
				trial, _ := before.DeepCopyObject().(client.Object)
				return world.Client.Create(t.Context(), trial, client.DryRunAll) == nil && level(trial) == "trace"
			})
			world.Get(t, live)
			require.NotEqual(t, "trace", level(live))
			owner.deploys(t, "app:2")
			world.Get(t, live)
			require.Equal(t, "trace", level(live), "in the owner's own request")
			harness.Until(t, world, vs, "a finished rollout", func(vs *v1alpha1.VectorSidecar) bool { return isCounted(vs, 1) })
			require.Equal(t, 2, templates(t, namespace, string(kind))-1)

			require.Empty(t, running.Requests.Writes(below+"early"))
			world.Get(t, early)
			require.False(t, has(early, "vector"))

			// The sidecar from the controller owner's last write has no field manager, but is still removed.
			require.False(t, isAdopted("logs")(live))
			world.Delete(t, vs)
			harness.Until(t, world, live, "no sidecar", func(o client.Object) bool { return !has(o, "vector") })
			require.Equal(t, []string{"app"}, names(live))
			require.Empty(t, template(live).Spec.Volumes)
		})
	}
}

// isCounted returns whether the given number of workloads is ready and the early workload waits.
func isCounted(vs *v1alpha1.VectorSidecar, ready int32) bool {
	return vs.Status.ObservedGeneration == vs.Generation && vs.Status.ReadyWorkloads == ready && len(vs.Status.Workloads) == 1
}

func level(object client.Object) string {
	for _, container := range template(object).Spec.InitContainers {
		for _, variable := range container.Env {
			if variable.Name == "VECTOR_LOG" {
				return variable.Value
			}
		}
	}
	return ""
}

// With spec.ownedWorkloads Skip, the API server does not inject into workloads with a controller owner.
func TestOwnedSkip_SkipsAdmissionInjection(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").For("Deployment", "StatefulSet").WithSoak(0).Build()
	vs.Spec.OwnedWorkloads = v1alpha1.OwnedSkip
	world.Create(t, vs)
	awaitOverlay(t, vs)
	untilActive(t, objects.NewDeployment("any", namespace).Labeled("logs", "vector").Build(), "vector")
	for _, kind := range []string{"Deployment", "StatefulSet"} {
		owned, refers := ownedBy(t, kind, "owned", namespace, "app:1"), ownedBy(t, kind, "refers", namespace, "app:1")
		refers.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "x", UID: "y"}})
		for _, object := range []client.Object{owned, refers} {
			require.NoError(t, world.Client.Create(t.Context(), object, client.DryRunAll))
			require.Equal(t, object == refers, has(object, "vector"), "%s: only a controller is another operator", object.GetName())
		}
	}
	// A younger VectorSidecar without Skip is still injected.
	younger := objects.NewVectorSidecar("younger", namespace).Selecting("logs", "vector").WithSoak(0).Build()
	world.Create(t, younger)
	awaitOverlay(t, younger)
	harness.Eventually(t, "the sidecar of the newer VectorSidecar", func() bool {
		object := ownedBy(t, "Deployment", "owned", namespace, "app:1")
		return world.Client.Create(t.Context(), object, client.DryRunAll) == nil && has(object, "vector")
	})
}
