// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"context"
	"slices"
	"strings"
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
	"kontroloop.ai/vector-sidecar-operator/test/hostile"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// ownerManager is the field manager of another operator, which owns workloads.
const ownerManager = "strimzi-cluster-operator"

// ownedWorkload returns a workload of Kafka NAME. The cluster does not know that kind, so the garbage collector
// ignores the owner.
func ownedWorkload(t *testing.T, kind, name, namespace string) client.Object {
	t.Helper()
	object := objects.NewWorkload(kind, name, namespace, map[string]string{"logs": "vector"})
	isController := true
	object.SetOwnerReferences([]metav1.OwnerReference{{
		APIVersion: "kafka.strimzi.io/v1beta2", Kind: "Kafka", Name: "orders", UID: types.UID("0d3b-" + name), Controller: &isController,
	}})
	t.Cleanup(func() {
		require.NoError(t, client.IgnoreNotFound(world.Client.Delete(context.WithoutCancel(t.Context()), object)))
	})
	return object
}

// kindOf returns the adapter for the kind of a workload.
func kindOf(object client.Object) *workload.Kind {
	one, _ := workload.ToObject(object)
	return workload.KindByName(workload.NewRef(one).Kind)
}

// startWorkloadOwner creates a workload as another operator, and replaces it at each of its events with its own labels,
// annotations and spec, without fields of others. It ends with stop or the test.
func startWorkloadOwner(t *testing.T, want client.Object) (stop func()) {
	t.Helper()
	made, _ := want.DeepCopyObject().(client.Object)
	require.NoError(t, world.Client.Create(t.Context(), made, client.FieldOwner(ownerManager)))
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(kindOf(made).GroupVersionKind)
	ctx := t.Context()
	return world.Watch(t, list, func(client.Object) {
		live, _ := want.DeepCopyObject().(client.Object)
		err := world.Client.Get(ctx, client.ObjectKeyFromObject(want), live)
		if err == nil && carriesVector(live) {
			again, _ := want.DeepCopyObject().(client.Object)
			again.SetResourceVersion(live.GetResourceVersion())
			err = world.Client.Update(ctx, again, client.FieldOwner(ownerManager))
		}
		// The other write of a conflict has an event, too.
		if client.IgnoreNotFound(err) != nil && ctx.Err() == nil && !apierrors.IsConflict(err) {
			t.Error(err)
		}
	}, client.InNamespace(want.GetNamespace()), client.MatchingFields{"metadata.name": want.GetName()})
}

func isRemovedByOwner(vs *v1alpha1.VectorSidecar) bool {
	return condition(vs, meta.ConditionStalled) == "True" && len(vs.Status.RemovedByOwners) == 1
}

// writesOf returns the number of the operator's writes to a workload.
func writesOf(of client.Object) int {
	return len(running.Requests.Writes("/namespaces/" + of.GetNamespace() + "/" + kindOf(of).Resource + "/" + of.GetName()))
}

// requestRetry requests a retry of the VectorSidecar, as a user.
func requestRetry(t *testing.T, vs *v1alpha1.VectorSidecar, when string) {
	t.Helper()
	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) {
		metav1.SetMetaDataAnnotation(&vs.ObjectMeta, meta.AnnotationRetryRollout, when)
	})
}

// If a controller owner removes the sidecar, no workload with that kind of owner gets it again, until a user requests a
// retry.
func TestOwnedWorkloads_StayWithoutRemovedSidecar(t *testing.T) {
	t.Parallel()
	for _, kind := range []v1alpha1.WorkloadKind{"StatefulSet", "Deployment"} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			namespace := world.Namespace(t)
			first := ownedWorkload(t, string(kind), "orders-kafka", namespace)
			stop := startWorkloadOwner(t, first)
			vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").For(kind).WithSoak(0).Build()
			world.Create(t, vs)

			harness.Until(t, world, vs, "the stop of writes", isRemovedByOwner)
			require.Contains(t, message(vs, meta.ConditionReady), "RemovedByOwner: 1 of 1")
			require.Contains(t, vs.Status.Workloads[0].Message, "Kafka.kafka.strimzi.io/orders owns the workload, and has removed or changed the sidecar")
			require.Equal(t, "Kafka.kafka.strimzi.io", vs.Status.RemovedByOwners[0].OwnerKind)
			require.Equal(t, 1, writesOf(first))
			world.Get(t, first)
			require.False(t, carriesVector(first))
			harness.Eventually(t, "the message before and after", func() bool {
				return eventsOf(t, first, meta.ReasonOwnedBy) == 1 && eventsOf(t, vs, meta.ReasonOwnedBy) == 1 &&
					eventsOf(t, first, meta.ReasonRemovedByOwner) == 1 && eventsOf(t, vs, meta.ReasonRemovedByOwner) == 1
			})

			// A changed sidecar does not cause another attempt; a user's retry does.
			harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: "trace"} })
			harness.Until(t, world, vs, "a reconcile of the current generation", func(vs *v1alpha1.VectorSidecar) bool { return vs.Status.ObservedGeneration == vs.Generation })
			require.Equal(t, 1, writesOf(first))
			before := vs.Status.RemovedByOwners[0]
			requestRetry(t, vs, "once more")
			harness.Until(t, world, vs, "the stop after another attempt", func(vs *v1alpha1.VectorSidecar) bool {
				return isRemovedByOwner(vs) && vs.Status.RemovedByOwners[0].Retry != before.Retry
			})
			require.Equal(t, 2, writesOf(first))

			second, free := ownedWorkload(t, string(kind), "orders-zookeeper", namespace), objects.NewWorkload(string(kind), "free", namespace, map[string]string{"logs": "vector"})
			world.Create(t, second, free)
			harness.Until(t, world, free, "the sidecar of a workload without an owner", carriesVector)
			harness.Until(t, world, vs, "a message about the second workload", func(vs *v1alpha1.VectorSidecar) bool {
				return len(vs.Status.Workloads) > 1 && vs.Status.Workloads[1].Reason == meta.ReasonRemovedByOwner
			})
			require.Contains(t, vs.Status.Workloads[1].Message, "Kafka.kafka.strimzi.io/orders of the same kind has removed or changed the sidecar of "+string(kind)+" orders-kafka")
			require.Zero(t, writesOf(second))

			stop()
			requestRetry(t, vs, "the owner keeps it now")
			harness.Until(t, world, first, "the sidecar of the first", carriesVector)
			harness.Until(t, world, second, "the sidecar of the second", carriesVector)
			harness.Until(t, world, vs, "the removal of all its fields", func(vs *v1alpha1.VectorSidecar) bool { return isReady(vs) && len(vs.Status.RemovedByOwners) == 0 })
		})
	}
}

// A user of one namespace can name any controller owner and remove the sidecar. So a removal affects other namespaces
// only after several namespaces have reported it.
func TestBelievedNamespaces_LimitTrustInOwnerRemovals(t *testing.T) {
	t.Parallel()
	cluster := clusterOf(t)
	cluster.Spec.Workloads = []v1alpha1.WorkloadKind{"StatefulSet"}
	world.Create(t, cluster)
	inAnother := func() client.Object {
		return ownedWorkload(t, "StatefulSet", "orders-kafka", world.Namespace(t, "team", cluster.Name))
	}
	isTold := func(of client.Object) func(*v1alpha1.ClusterVectorSidecar) bool {
		return func(cluster *v1alpha1.ClusterVectorSidecar) bool {
			return slices.ContainsFunc(cluster.Status.Workloads, func(one v1alpha1.NamespacedWorkloadStatus) bool {
				return one.Namespace == of.GetNamespace() && one.Name == of.GetName() && one.Reason == meta.ReasonRemovedByOwner
			})
		}
	}
	for found := range v1alpha1.BelievedNamespaces {
		free := inAnother()
		world.Create(t, free)
		harness.Until(t, world, free, "the sidecar in workloads without a removal", carriesVector)
		taken := inAnother()
		t.Cleanup(startWorkloadOwner(t, taken))
		harness.Until(t, world, cluster, "the stop of writes", func(cluster *v1alpha1.ClusterVectorSidecar) bool {
			return len(cluster.Status.RemovedByOwners) == found+1
		})
		require.Equal(t, taken.GetNamespace(), cluster.Status.RemovedByOwners[found].Namespace)
		second := ownedWorkload(t, "StatefulSet", "orders-zookeeper", taken.GetNamespace())
		world.Create(t, second)
		harness.Until(t, world, cluster, "a message about the second workload of the namespace", isTold(second))
		require.Zero(t, writesOf(second))
	}
	last := inAnother()
	world.Create(t, last)
	harness.Until(t, world, cluster, "a message about a workload of another namespace", isTold(last))
	require.Zero(t, writesOf(last))
}

// The API server accepts owner kinds of any length and any characters. The operator shortens them in the status.
func TestOwnerRemoval_LimitsLengthInStatus(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	for _, name := range []string{"one", "two"} {
		object := ownedWorkload(t, "Deployment", name, namespace)
		owners := object.GetOwnerReferences()
		owners[0].Kind = name + "\x1b[2J" + strings.Repeat("k", 800<<10)
		object.SetOwnerReferences(owners)
		t.Cleanup(startWorkloadOwner(t, object))
	}
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithSoak(0).Build()
	world.Create(t, vs)
	harness.Until(t, world, vs, "both entries", func(vs *v1alpha1.VectorSidecar) bool { return len(vs.Status.RemovedByOwners) == 2 })
	for _, one := range vs.Status.RemovedByOwners {
		require.Less(t, len(one.OwnerKind), 1<<10)
		hostile.RequireHarmless(t, one.OwnerKind, "it is shown")
	}
}

// After a restart, the operator reads earlier removals from the status. It detects removals during its absence by the
// annotations of the workload.
func TestOwnerRemoval_StaysKnownAfterRestart(t *testing.T) {
	namespace := world.Namespace(t)
	told, meanwhile := ownedWorkload(t, "StatefulSet", "told", namespace), ownedWorkload(t, "Deployment", "meanwhile", namespace)
	stop := startWorkloadOwner(t, told)
	require.NoError(t, world.Client.Create(t.Context(), meanwhile, client.FieldOwner(ownerManager)))
	of := func(name string, kind v1alpha1.WorkloadKind) *v1alpha1.VectorSidecar {
		return objects.NewVectorSidecar(name, namespace).Selecting("logs", "vector").For(kind).WithSoak(0).Build()
	}
	sets, deployments := of("sets", "StatefulSet"), of("deployments", "Deployment")
	world.Create(t, sets, deployments)
	harness.Until(t, world, sets, "the stop of writes", isRemovedByOwner)
	harness.Until(t, world, meanwhile, "the sidecar", carriesVector)
	cluster := clusterOf(t)
	cluster.Spec.Workloads = []v1alpha1.WorkloadKind{"StatefulSet"}
	isTold := func(cluster *v1alpha1.ClusterVectorSidecar) bool {
		return len(cluster.Status.RemovedByOwners) == v1alpha1.BelievedNamespaces
	}
	inOnes, inTwo := []client.Object{}, ownedWorkload(t, "StatefulSet", "two", world.Namespace(t, "team", cluster.Name))
	stops := []func(){stop}
	for range v1alpha1.BelievedNamespaces {
		inOnes = append(inOnes, ownedWorkload(t, "StatefulSet", "one", world.Namespace(t, "team", cluster.Name)))
		stops = append(stops, startWorkloadOwner(t, inOnes[len(inOnes)-1]))
	}
	world.Create(t, cluster)
	harness.Until(t, world, cluster, "the stop of the ClusterVectorSidecar's writes", isTold)

	require.NoError(t, running.Stop())
	world.Get(t, meanwhile)
	patch := client.RawPatch(types.StrategicMergePatchType, []byte(`{"spec":{"template":{"spec":{"initContainers":[{"name":"vector","$patch":"delete"}],"$setElementOrder/volumes":[],"volumes":[{"name":"vectorsidecar-data","$patch":"delete"},{"name":"vectorsidecar-config","$patch":"delete"}]}}}}`))
	require.NoError(t, world.Client.Patch(t.Context(), meanwhile, patch, client.FieldOwner(ownerManager)))
	world.Create(t, inTwo)
	running = world.RunOperator(options)
	marker := objects.NewVectorSidecar("marker", namespace).Selecting("logs", "nothing").Build()
	world.Create(t, marker)
	harness.Until(t, world, marker, "the new operator", isReady)

	harness.Until(t, world, deployments, "the stop after an unobserved removal", isRemovedByOwner)
	world.Get(t, sets)
	require.True(t, isRemovedByOwner(sets))
	harness.Until(t, world, cluster, "a message about the other namespace", func(cluster *v1alpha1.ClusterVectorSidecar) bool {
		return isTold(cluster) && slices.ContainsFunc(cluster.Status.Workloads, func(of v1alpha1.NamespacedWorkloadStatus) bool {
			return of.Name == "two" && of.Reason == meta.ReasonRemovedByOwner
		})
	})
	for _, object := range append(inOnes, told, meanwhile, inTwo) {
		require.Zero(t, writesOf(object), object.GetName())
	}

	for _, stop := range stops {
		stop()
	}
	requestRetry(t, sets, "after a restart")
	harness.Until(t, world, told, "another attempt", carriesVector)
	harness.Change(t, world, cluster, func(cluster *v1alpha1.ClusterVectorSidecar) {
		metav1.SetMetaDataAnnotation(&cluster.ObjectMeta, meta.AnnotationRetryRollout, "after a restart")
	})
	for _, object := range inOnes {
		harness.Until(t, world, object, "another attempt", carriesVector)
	}
	harness.Until(t, world, inTwo, "its first sidecar", carriesVector)
	harness.Until(t, world, cluster, "the removal of all its fields", func(cluster *v1alpha1.ClusterVectorSidecar) bool { return len(cluster.Status.RemovedByOwners) == 0 })
}

// A user removes the sidecar from a workload with a controller owner. The operator restores it, because the controller
// owner has not removed it.
func TestOwnedWorkloads_RestoreManuallyRemovedSidecar(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	object := ownedWorkload(t, "Deployment", "orders", namespace)
	require.NoError(t, world.Client.Create(t.Context(), object, client.FieldOwner(ownerManager)))
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithSoak(0).Build()
	world.Create(t, vs)
	harness.Until(t, world, object, "the sidecar", carriesVector)
	harness.Until(t, world, vs, "readiness", isReady)
	patch := client.RawPatch(types.StrategicMergePatchType, []byte(`{"metadata":{"labels":{"by":"hand"}},"spec":{"template":{"spec":{"initContainers":[{"name":"vector","$patch":"delete"}]}}}}`))
	require.NoError(t, world.Client.Patch(t.Context(), object, patch, client.FieldOwner("kubectl-client-side-apply")))
	require.False(t, carriesVector(object))

	harness.Until(t, world, object, "the sidecar again", carriesVector)
	harness.Until(t, world, vs, "readiness", isReady)
	require.Empty(t, vs.Status.RemovedByOwners)
}

// With ownedWorkloads Skip, workloads with a controller owner get no sidecar, and lose an injected one. With
// AtAdmission the operator also skips them, and reports if the API server does not inject.
func TestOwnedSkip_RemovesSidecarFromOwnedWorkloads(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	owned, free := ownedWorkload(t, "Deployment", "orders", namespace), objects.NewWorkload("Deployment", "free", namespace, map[string]string{"logs": "vector"})
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithSoak(0).Build()
	vs.Spec.OwnedWorkloads = v1alpha1.OwnedAtAdmission
	world.Create(t, owned, free, vs)
	isSkipped := func(why string) func(*v1alpha1.VectorSidecar) bool {
		return func(vs *v1alpha1.VectorSidecar) bool {
			return isReady(vs) && len(vs.Status.Workloads) == 1 && vs.Status.Workloads[0].State == v1alpha1.StateSkipped &&
				vs.Status.Workloads[0].Reason == meta.ReasonOwnedBy && vs.Status.Workloads[0].Message == "Kafka.kafka.strimzi.io/orders owns the workload, "+why
		}
	}
	harness.Until(t, world, vs, "the skipped state", isSkipped("spec.ownedWorkloads is AtAdmission, and the API server does not inject the sidecar: the installation's admissionInjection.enabled is false"))
	require.Zero(t, writesOf(owned))

	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.OwnedWorkloads = v1alpha1.OwnedInject })
	harness.Until(t, world, owned, "the sidecar", carriesVector)
	harness.Until(t, world, vs, "readiness", func(vs *v1alpha1.VectorSidecar) bool { return isReady(vs) && vs.Status.Total().Ready == 2 })

	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.OwnedWorkloads = v1alpha1.OwnedSkip })
	harness.Until(t, world, owned, "the removal of the sidecar", func(o client.Object) bool { return !carriesVector(o) })
	harness.Until(t, world, vs, "the skipped state", isSkipped("and spec.ownedWorkloads is Skip"))
	harness.Eventually(t, "an event of the removal", func() bool { return eventsOf(t, owned, meta.ReasonRemoved) == 1 })
	world.Get(t, free)
	require.True(t, carriesVector(free))
}
