// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package bombs

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/companion"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

const (
	// largestContent is the content of the largest object that etcd stores, 1.5 MiB with names and managedFields.
	largestContent = 1520 << 10
	// largestConfigMap is the data, and largestAnnotations the annotations, that the API server admits in one object.
	largestConfigMap, largestAnnotations = 1023 << 10, 250 << 10
	// largestCount is how many empty arguments one object can have: each takes 2 bytes in etcd, 3 in JSON and 16 in memory.
	// largestSelected leaves space for a sidecar.
	largestCount, largestSelected = 780_000, 650_000
	// largestSidecar is the text of a VectorSidecar that is not too large.
	largestSidecar = 500 << 10
	// largestLabels and largestOwners are how many labels and owners one object can have, with their managedFields.
	largestLabels, largestOwners = 13_000, 6_000
)

// largeVariant is a way in which large objects of a tenant are listed.
type largeVariant struct {
	// size is that of the content of an object.
	size   int
	object func(s *largeScene, name string, size int) client.Object
	// prepare creates the tenant's VectorSidecar before the large objects exist, and begin changes it afterwards, before the
	// operator starts; nil for no change.
	prepare, begin func(*testing.T, *largeScene)
	// isFinished reports whether the large objects were listed and the VectorSidecar is finished.
	isFinished func(context.Context, *largeScene) bool
	// measure runs the program and returns its largest resident memory in bytes, and how long it took.
	measure func(*testing.T, *largeScene, *largeVariant) (most int64, took time.Duration)
}

// largeVariants returns the variants by name.
func largeVariants() map[string]*largeVariant {
	variants := map[string]*largeVariant{
		"companions":                     {object: largeCompanion, size: largestConfigMap, prepare: createFinalized, begin: deleteSidecar, isFinished: isSidecarGone},
		"Deployments":                    {object: largeDeployment, size: largestContent, prepare: createFinalized, begin: deleteSidecar, isFinished: isSidecarGone},
		"arguments":                      {object: largeArguments, size: largestCount, prepare: createFinalized, begin: deleteSidecar, isFinished: isSidecarGone},
		"selected arguments":             {object: selectedArguments, size: largestSelected, prepare: createSelecting, isFinished: isAppInjected},
		"Jobs":                           {object: largeJob, size: largestContent, prepare: createFinalizedWithCompanion, begin: deleteSidecar, isFinished: isSidecarGone},
		"ReplicaSets":                    {object: largeReplicaSet, size: largestContent, prepare: createWithCompanion, isFinished: isCompanionGone},
		"VectorSidecars":                 {object: largeSidecar, size: largestContent, prepare: createWithLeftover, isFinished: isLeftoverReported},
		"ConfigMaps":                     {object: largeConfigMap, size: largestConfigMap, prepare: createSelecting, isFinished: isAppInjected},
		"labels":                         {object: largeLabels, size: largestLabels, prepare: createSelecting, isFinished: isAppInjected},
		"annotations":                    {object: largeAnnotations, size: largestAnnotations, prepare: createSelecting, isFinished: isAppInjected},
		"labels of pods":                 {object: largePodLabels, size: largestLabels, prepare: createSelecting, isFinished: isAppInjected},
		"fields":                         {object: largeFields, size: largestContent, prepare: createSelecting, isFinished: isAppInjected},
		"marks":                          {object: largeMark, size: largestAnnotations, prepare: createSelecting, isFinished: isAppInjected},
		"owners":                         {object: manyOwners, size: largestOwners, prepare: createSelecting, isFinished: isAppInjected},
		"VectorSidecars below the limit": {object: largeSidecar, size: largestSidecar, prepare: createElsewhere, isFinished: isAppInjected},
		"statuses":                       {object: smallSidecar, size: largestContent, prepare: createElsewhere, begin: fillStatuses, isFinished: isAppInjected},
		"Namespaces":                     {object: largeNamespace, size: largestAnnotations, prepare: createElsewhere, isFinished: isAppInjected},
		"uninstall Job":                  {object: finalizedSidecar, size: largestContent, prepare: createUninstalled, measure: runUninstallJob},
	}
	for _, v := range variants {
		if v.measure == nil {
			v.measure = runOperator
		}
	}
	return variants
}

// createFinalized creates the tenant's VectorSidecar with the operator's finalizer.
func createFinalized(t *testing.T, s *largeScene) {
	t.Helper()
	s.sidecar = objects.NewVectorSidecar("logs", s.namespace).Selecting(label, "none").Build()
	s.sidecar.Finalizers = []string{meta.Finalizer}
	s.Create(t, s.sidecar)
}

// createFinalizedWithCompanion also creates a companion: Jobs are listed before one is deleted.
func createFinalizedWithCompanion(t *testing.T, s *largeScene) {
	t.Helper()
	createFinalized(t, s)
	s.Create(t, largeCompanion(s, "companion", 1<<10))
}

func deleteSidecar(t *testing.T, s *largeScene) {
	t.Helper()
	s.Delete(t, s.sidecar)
}

func isSidecarGone(ctx context.Context, s *largeScene) bool {
	return apierrors.IsNotFound(s.Client.Get(ctx, client.ObjectKeyFromObject(s.sidecar), s.sidecar))
}

// createWithCompanion creates a VectorSidecar with a companion that it does not need: ReplicaSets are listed before that is
// deleted.
func createWithCompanion(t *testing.T, s *largeScene) {
	t.Helper()
	s.sidecar = objects.NewVectorSidecar("logs", s.namespace).Selecting(label, "none").Build()
	s.Create(t, s.sidecar)
	s.Create(t, largeCompanion(s, "companion", 1<<10))
}

func isCompanionGone(ctx context.Context, s *largeScene) bool {
	return apierrors.IsNotFound(s.Client.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: "companion"}, &corev1.ConfigMap{})) && isSidecarReady(ctx, s)
}

func isSidecarReady(ctx context.Context, s *largeScene) bool {
	err := s.Client.Get(ctx, client.ObjectKeyFromObject(s.sidecar), s.sidecar)
	return err == nil && apimeta.IsStatusConditionTrue(s.sidecar.Status.Conditions, meta.ConditionReady)
}

// createWithLeftover creates a Deployment with a mark of a VectorSidecar that does not exist: the leftover cleanup reports it
// after it has listed the VectorSidecars of the namespace.
func createWithLeftover(t *testing.T, s *largeScene) {
	t.Helper()
	s.sidecar = objects.NewVectorSidecar("logs", s.namespace).Selecting(label, "none").Build()
	s.Create(t, s.sidecar)
	leftover := objects.NewDeployment("leftover", s.namespace).Build()
	s.Create(t, leftover)
	mark := fmt.Sprintf(`{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "leftover", "annotations": {%q: "x"}}}`, meta.AnnotationInjectedHash)
	require.NoError(t, s.Client.Patch(t.Context(), leftover, client.RawPatch(types.ApplyPatchType, []byte(mark)), client.FieldOwner(meta.Manager("gone"))))
}

func isLeftoverReported(ctx context.Context, s *largeScene) bool {
	var events eventsv1.EventList
	if s.Client.List(ctx, &events, client.InNamespace(s.namespace)) != nil {
		return false
	}
	isReported := slices.ContainsFunc(events.Items, func(event eventsv1.Event) bool { return event.Reason == meta.ReasonLeftoverFound })
	return isReported && isSidecarReady(ctx, s)
}

// createSelecting creates a VectorSidecar and the Deployment app, which it selects.
func createSelecting(t *testing.T, s *largeScene) {
	t.Helper()
	s.Create(t, objects.NewDeployment("app", s.namespace).Labeled(label, "vector").Build())
	s.sidecar = objects.NewVectorSidecar("logs", s.namespace).Selecting(label, "vector").Build()
	s.Create(t, s.sidecar)
}

// createElsewhere does the same as createSelecting in the namespace of another tenant.
func createElsewhere(t *testing.T, s *largeScene) {
	t.Helper()
	other := &largeScene{World: s.World, namespace: s.Namespace(t)}
	createSelecting(t, other)
	s.sidecar = other.sidecar
}

// fillStatuses writes a large status of each of the tenant's VectorSidecars, which users with the permission may do.
func fillStatuses(t *testing.T, s *largeScene) {
	t.Helper()
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("VectorSidecarList"))
	require.NoError(t, s.Client.List(t.Context(), list, client.InNamespace(s.namespace)))
	status := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"status": {"environment": %q}}`, fillWith(largestContent)))
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(creators)
	for i := range list.Items {
		group.Go(func() error {
			return s.Client.Status().Patch(ctx, objects.NewVectorSidecar(list.Items[i].Name, s.namespace).Build(), status)
		})
	}
	require.NoError(t, group.Wait())
}

func isAppInjected(ctx context.Context, s *largeScene) bool {
	app := &appsv1.Deployment{}
	return s.Client.Get(ctx, client.ObjectKey{Namespace: s.sidecar.Namespace, Name: "app"}, app) == nil && isInjected(app)
}

// uninstallJob is the name of the Job of the uninstall hook.
const uninstallJob = "uninstall"

// createUninstalled creates the Job that uninstalls the release, as Helm does.
func createUninstalled(t *testing.T, s *largeScene) {
	t.Helper()
	createFinalized(t, s)
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: own, Name: uninstallJob}, Spec: batchv1.JobSpec{Suspend: ptr.To(true)}}
	job.Spec.Template.Spec = corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{
		{Name: "uninstall", Image: "registry.example/operator:1", Args: []string{"uninstall"}},
	}}
	require.NoError(t, s.Client.Create(t.Context(), job, client.FieldOwner("helm")))
}

// runUninstallJob runs the program of the uninstall Job until all VectorSidecars are deleted. As there is no operator, the
// replica in the Job removes their finalizers.
func runUninstallJob(t *testing.T, s *largeScene, _ *largeVariant) (most int64, took time.Duration) {
	t.Helper()
	begin := time.Now()
	job := harness.StartProcess(t, program, s.kubeconfig, harness.Settings{
		Command:     "uninstall",
		Arguments:   []string{"--job=" + uninstallJob, "--timeout=" + largePatience.String(), "--", "--namespace=" + own, "--leader-elect"},
		MemoryLimit: limit,
	})
	require.Zero(t, job.ExitCode())
	took = time.Since(begin)
	left := &metav1.PartialObjectMetadataList{}
	left.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("VectorSidecarList"))
	require.NoError(t, s.Client.List(t.Context(), left, client.Limit(1)))
	require.Empty(t, left.Items)
	return job.MostMemory(), took
}

// The following functions return objects with content of a size in bytes.

func largeConfigMap(s *largeScene, name string, size int) client.Object {
	object := objects.NewConfigMap(name, s.namespace, "vector.yaml", fillWith(size))
	if size == largestConfigMap {
		object.Annotations = map[string]string{"text": fillWith(largestAnnotations)}
	}
	return object
}

func largeCompanion(s *largeScene, name string, size int) client.Object {
	object := largeConfigMap(s, name, size).(*corev1.ConfigMap)
	companion.Label(object, "logs")
	companion.Mark(object)
	return object
}

func largeDeployment(s *largeScene, name string, size int) client.Object {
	object := objects.NewDeployment(name, s.namespace).Build()
	object.Spec.Template.Spec.Containers[0].Args = []string{fillWith(size)}
	return object
}

// largeArguments returns a Deployment with a number of empty arguments.
func largeArguments(s *largeScene, name string, count int) client.Object {
	object := objects.NewDeployment(name, s.namespace).Build()
	object.Spec.Template.Spec.Containers[0].Args = make([]string, count)
	return object
}

// selectedArguments is largeArguments for a Deployment that the VectorSidecar selects.
func selectedArguments(s *largeScene, name string, count int) client.Object {
	object := largeArguments(s, name, count)
	object.SetLabels(map[string]string{label: "vector"})
	return object
}

// largeLabels returns a Deployment with a number of labels.
func largeLabels(s *largeScene, name string, count int) client.Object {
	object := objects.NewDeployment(name, s.namespace).Build()
	for i := range count {
		metav1.SetMetaDataLabel(&object.ObjectMeta, fmt.Sprintf("n%05d", i), fillWith(63))
	}
	return object
}

func largeAnnotations(s *largeScene, name string, size int) client.Object {
	return objects.NewDeployment(name, s.namespace).Annotated("text", fillWith(size)).Build()
}

// largePodLabels returns a Deployment with a number of labels in its pod template.
func largePodLabels(s *largeScene, name string, count int) client.Object {
	object := objects.NewDeployment(name, s.namespace).Build()
	for i := range count {
		metav1.SetMetaDataLabel(&object.Spec.Template.ObjectMeta, fmt.Sprintf("n%05d", i), fillWith(63))
	}
	return object
}

// largeFields returns a Deployment with content that has the name of an operator's field manager.
func largeFields(s *largeScene, name string, size int) client.Object {
	object := largeDeployment(s, name, size)
	object.SetManagedFields([]metav1.ManagedFieldsEntry{{
		Manager: meta.Manager("gone"), Operation: metav1.ManagedFieldsOperationApply, APIVersion: "apps/v1", FieldsType: "FieldsV1",
		FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"app\"}":{".":{},"f:name":{},"f:args":{}}}}}}}`),
	}})
	return object
}

// largeMark returns a ConfigMap with a label and a mark of a companion.
func largeMark(s *largeScene, name string, size int) client.Object {
	object := largeCompanion(s, name, 1)
	object.SetAnnotations(map[string]string{meta.AnnotationCompanion: fillWith(size)})
	return object
}

// manyOwners returns a ConfigMap with a number of owners.
func manyOwners(s *largeScene, name string, count int) client.Object {
	object := objects.NewConfigMap(name, s.namespace, "vector.yaml", "x")
	for i := range count {
		owner := metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: fillWith(63), UID: types.UID(fmt.Sprintf("%s-%05d", name, i))}
		object.OwnerReferences = append(object.OwnerReferences, owner)
	}
	return object
}

func largeReplicaSet(s *largeScene, name string, size int) client.Object {
	app := largeDeployment(s, name, size).(*appsv1.Deployment)
	return &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name},
		Spec:       appsv1.ReplicaSetSpec{Selector: app.Spec.Selector, Template: app.Spec.Template},
	}
}

func largeJob(s *largeScene, name string, size int) client.Object {
	pod := largeDeployment(s, name, size).(*appsv1.Deployment).Spec.Template
	pod.Spec.RestartPolicy = corev1.RestartPolicyNever
	return &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name}, Spec: batchv1.JobSpec{Template: pod, Suspend: ptr.To(true)}}
}

func largeSidecar(s *largeScene, name string, size int) client.Object {
	return objects.NewVectorSidecar(name, s.namespace).Selecting(label, "none").WithValues(map[string]any{"a": fillWith(size)}).Build()
}

// smallSidecar returns a VectorSidecar without content.
func smallSidecar(s *largeScene, name string, _ int) client.Object { return largeSidecar(s, name, 0) }

// largeNamespace returns a Namespace with as many annotations as the API server admits. Tenants rarely may create Namespaces,
// so the labels, which are all cached, are few.
func largeNamespace(_ *largeScene, name string, size int) client.Object {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{"text": fillWith(size)}}}
}

func finalizedSidecar(s *largeScene, name string, size int) client.Object {
	object := largeSidecar(s, name, size)
	object.SetFinalizers([]string{meta.Finalizer})
	return object
}

// fillWith returns text of a size in bytes.
func fillWith(size int) string { return strings.Repeat("x", size) }
