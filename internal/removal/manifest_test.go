// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package removal

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/companion"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/simulate"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// deployment returns one as its owner has written it.
func deployment(name string) *appsv1.Deployment {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Annotations: map[string]string{meta.AnnotationInject: "true", "team": "shop"}}}
	d.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}
	d.Spec.Template.Labels = map[string]string{"app": name}
	d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "app", Image: "shop:1"}}
	d.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "cache"}}
	return d
}

// injected returns the same with a sidecar that only the pod template's list records.
func injected(t *testing.T, name string) *appsv1.Deployment {
	t.Helper()
	manager := meta.Manager("logs")
	parts, err := json.Marshal(meta.InjectedItems{Manager: manager, Containers: []string{"vector"}, Volumes: []string{"vector-data"}})
	require.NoError(t, err)
	d := deployment(name)
	d.Annotations[meta.AnnotationInjected] = "logs"
	d.Spec.Template.Annotations = map[string]string{meta.AnnotationInjectedItems(manager): string(parts), meta.AnnotationInjectedHash: "abc"}
	pod := &d.Spec.Template.Spec
	pod.Containers = append(pod.Containers, corev1.Container{Name: "vector", Image: "vector:1"})
	pod.Volumes = append(pod.Volumes, corev1.Volume{Name: "vector-data"})
	return d
}

// restored returns the same as kubectl apply puts it back from a backup.
func restored(t *testing.T, name string) *appsv1.Deployment {
	t.Helper()
	d := injected(t, name)
	d.ManagedFields = []metav1.ManagedFieldsEntry{{
		Manager: "kubectl-client-side-apply", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "apps/v1", FieldsType: "FieldsV1",
		FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:template":{"f:spec":{
			"f:containers":{"k:{\"name\":\"vector\"}":{".":{},"f:image":{},"f:name":{}}},
			"f:volumes":{"k:{\"name\":\"vector-data\"}":{".":{},"f:name":{}}}}}}}`),
	}}
	return d
}

func TestStrip_KeepsFieldsOfApplication(t *testing.T) {
	merger, err := simulate.New()
	require.NoError(t, err)

	stripped, had, err := Strip(merger, injected(t, "cart"))

	require.NoError(t, err)
	require.True(t, had)
	want := deployment("cart")
	require.Equal(t, want.Annotations, stripped.GetAnnotations(), "to opt in is the team's own")
	template := workload.PodTemplate(stripped)
	require.Empty(t, template.Annotations)
	require.Len(t, template.Spec.Containers, 1)
	require.Equal(t, "app", template.Spec.Containers[0].Name)
	require.Len(t, template.Spec.Volumes, 1)
	require.Equal(t, "cache", template.Spec.Volumes[0].Name)
}

// A workload was restored from a backup, so another field manager owns all fields. The annotation with the list of
// injected items shows which items to remove.
func TestStrip_UsesItemListWithoutManagedFields(t *testing.T) {
	merger, err := simulate.New()
	require.NoError(t, err)

	stripped, had, err := Strip(merger, restored(t, "cart"))

	require.NoError(t, err)
	require.True(t, had)
	want := deployment("cart")
	require.Equal(t, want.Annotations, stripped.GetAnnotations())
	template := workload.PodTemplate(stripped)
	require.Empty(t, template.Annotations, "the list goes with what it names")
	require.Equal(t, want.Spec.Template.Spec.Containers, template.Spec.Containers)
	require.Equal(t, want.Spec.Template.Spec.Volumes, template.Spec.Volumes)
}

// The application owner applies a manifest that the command inject printed, and the operator adopts its items. All of
// them are removed.
func TestStrip_RemovesItemsOfInjectedManifest(t *testing.T) {
	merger, err := simulate.New()
	require.NoError(t, err)
	both := restored(t, "cart")
	both.ManagedFields = append(both.ManagedFields, *both.ManagedFields[0].DeepCopy())
	both.ManagedFields[1].Manager, both.ManagedFields[1].Operation = meta.Manager("logs"), metav1.ManagedFieldsOperationApply

	stripped, had, err := Strip(merger, both)

	require.NoError(t, err)
	require.True(t, had)
	template := workload.PodTemplate(stripped)
	require.Empty(t, template.Annotations)
	require.Equal(t, deployment("cart").Spec.Template.Spec.Containers, template.Spec.Containers)
}

// A workload waits for its first sidecar. The annotation of the wait is removed.
func TestStrip_RemovesWaitAnnotation(t *testing.T) {
	merger, err := simulate.New()
	require.NoError(t, err)
	waiting, manager := deployment("cart"), meta.Manager("logs")
	metav1.SetMetaDataAnnotation(&waiting.ObjectMeta, meta.AnnotationWaiting(manager), "{}")
	waiting.ManagedFields = []metav1.ManagedFieldsEntry{{
		Manager: manager, Operation: metav1.ManagedFieldsOperationApply, APIVersion: "apps/v1", FieldsType: "FieldsV1",
		FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:annotations":{"f:` + meta.AnnotationWaiting(manager) + `":{}}}}`),
	}}

	stripped, had, err := Strip(merger, waiting)

	require.NoError(t, err)
	require.True(t, had)
	require.Equal(t, deployment("cart").Annotations, stripped.GetAnnotations())
}

// A manifest was exported from a workload with a sidecar, and has only its annotations. They are removed.
func TestStrip_RemovesCopiedAnnotations(t *testing.T) {
	merger, err := simulate.New()
	require.NoError(t, err)
	logs := meta.Manager("logs")
	for name, change := range map[string]func(d *appsv1.Deployment){
		"without a name": func(d *appsv1.Deployment) { d.Annotations[meta.AnnotationInjected] = "true" },
		"orphaned":       func(d *appsv1.Deployment) { d.Annotations[meta.AnnotationOrphaned(logs)] = "true" },
		"of pods": func(d *appsv1.Deployment) {
			d.Spec.Template.Annotations = map[string]string{meta.AnnotationInjectedEnv(logs): "app LOG=1"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			marked := deployment("cart")
			change(marked)

			stripped, had, err := Strip(merger, marked)

			require.NoError(t, err)
			require.True(t, had)
			require.Equal(t, deployment("cart").Annotations, stripped.GetAnnotations())
			require.Empty(t, workload.PodTemplate(stripped).Annotations)
		})
	}
}

func TestStrip_KeepsWorkloadWithoutSidecar(t *testing.T) {
	given := deployment("cart")

	stripped, had, err := Strip(nil, given) // There is nothing to merge.

	require.NoError(t, err)
	require.False(t, had)
	require.Equal(t, deployment("cart"), stripped)
}

// The search before an uninstallation finds each VectorSidecar, generated ConfigMap, and workload with fields of the
// operator.
func TestFindTraces_FindsAllObjectsAndFields(t *testing.T) {
	scheme := runtime.NewScheme()
	require.NoError(t, clientgoscheme.AddToScheme(scheme))
	require.NoError(t, v1alpha1.AddToScheme(scheme))
	made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "logs-vector"}}
	companion.Label(made, "logs")
	companion.Mark(made)
	theirCopy := made.DeepCopy()
	theirCopy.Name = "copy"
	elsewhere := restored(t, "pay")
	elsewhere.Namespace = "pay"
	cluster := fake.NewClientBuilder().WithScheme(scheme).WithObjects(
		&v1alpha1.VectorSidecar{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "logs"}},
		deployment("plain"), injected(t, "cart"), elsewhere, made, theirCopy,
	).Build()

	found, err := FindTraces(t.Context(), livelist.New(cluster), "shop")

	require.NoError(t, err)
	require.False(t, found.IsEmpty())
	require.Len(t, found.Sidecars, 1)
	require.Len(t, found.Workloads, 1)
	require.Equal(t, "cart", found.Workloads[0].Name)
	require.Equal(t, map[client.ObjectKey][]workload.Ref{{Namespace: "shop", Name: "logs-vector"}: nil}, found.Companions)
	found, err = FindTraces(t.Context(), livelist.New(cluster), "empty")
	require.NoError(t, err)
	require.True(t, found.IsEmpty())
	found, err = FindTraces(t.Context(), livelist.New(cluster), "")
	require.NoError(t, err)
	require.Len(t, found.Workloads, 2)
}

// A workload that keeps its sidecar mounts a ConfigMap. The ConfigMap stays, because the workload's pods would not
// start without it.
func TestEjector_KeepsRequiredConfigMaps(t *testing.T) {
	scheme := runtime.NewScheme()
	require.NoError(t, clientgoscheme.AddToScheme(scheme))
	require.NoError(t, v1alpha1.AddToScheme(scheme))
	var objects []client.Object
	for _, name := range []string{"used", "run", "scheduled", "checked", "over", "unused"} {
		made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
		companion.Label(made, "logs")
		objects = append(objects, made)
	}
	needs := func(pod *corev1.PodSpec, name string) {
		pod.Volumes = []corev1.Volume{{Name: "config", VolumeSource: corev1.VolumeSource{
			ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}},
		}}}
	}
	cart := deployment("cart")
	needs(&cart.Spec.Template.Spec, "used")
	elsewhere := deployment("cart")
	elsewhere.Namespace = "pay"
	needs(&elsewhere.Spec.Template.Spec, "unused")
	job := func(name string) *batchv1.Job {
		made := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
		needs(&made.Spec.Template.Spec, name)
		return made
	}
	run, scheduled, checked, over := job("run"), job("scheduled"), job("checked"), job("over")
	scheduled.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "CronJob", Name: "report", Controller: ptr.To(true)}}
	checked.Labels = map[string]string{meta.LabelValidation: "1"}
	over.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}
	cluster := fake.NewClientBuilder().WithScheme(scheme).WithObjects(append(objects, cart, elsewhere, run, scheduled, checked, over)...).Build()
	ejector := Ejector{Client: cluster, MaxConcurrent: 1}

	_, err := ejector.Clean(t.Context(), "shop")

	require.ErrorAs(t, err, new(*RemainingError))
	require.ErrorContains(t, err, "ConfigMap shop/used stays, because pods of Deployment shop/cart need it; to remove the ConfigMap, remove the references from the pod template")
	require.ErrorContains(t, err, "ConfigMap shop/run stays, because pods of Job shop/run need it; to remove the ConfigMap, wait until these workloads have ended")
	require.ErrorContains(t, err, "ConfigMap shop/scheduled stays, because pods of Job shop/scheduled need it")
	var left corev1.ConfigMapList
	require.NoError(t, cluster.List(t.Context(), &left))
	require.Len(t, left.Items, 3, "what only an ended Job, one of the operator's or another namespace names is deleted")
}

// The operator writes the VectorSidecar between the read and the removal of its finalizer. The removal is retried.
func TestReleaseSidecar_RetriesAfterConcurrentWrite(t *testing.T) {
	scheme := runtime.NewScheme()
	require.NoError(t, clientgoscheme.AddToScheme(scheme))
	require.NoError(t, v1alpha1.AddToScheme(scheme))
	sidecar := &v1alpha1.VectorSidecar{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "logs", Finalizers: []string{meta.Finalizer}}}
	writes := 0
	meanwhile := interceptor.Funcs{Patch: func(ctx context.Context, to client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
		if writes++; writes == 1 {
			other := &v1alpha1.VectorSidecar{}
			require.NoError(t, to.Get(ctx, client.ObjectKeyFromObject(object), other))
			other.Annotations = map[string]string{"by": "another"}
			require.NoError(t, to.Update(ctx, other))
		}
		return to.Patch(ctx, object, patch, options...)
	}}
	cluster := fake.NewClientBuilder().WithScheme(scheme).WithObjects(sidecar).WithInterceptorFuncs(meanwhile).Build()
	ejector := Ejector{Client: cluster, MaxConcurrent: 1}
	reference := referTo(v1alpha1.GroupVersion.WithKind("VectorSidecar"), sidecar)
	require.NoError(t, ejector.releaseSidecar(t.Context(), apply.New(cluster), &reference))
	require.Equal(t, 2, writes)
	left := &v1alpha1.VectorSidecar{}
	require.NoError(t, cluster.Get(t.Context(), client.ObjectKeyFromObject(sidecar), left))
	require.Empty(t, left.Finalizers)
}

// A deployment tool copied only the annotations of a sidecar into a Deployment. They are removed.
func TestEjector_RemovesCopiedAnnotations(t *testing.T) {
	scheme := runtime.NewScheme()
	require.NoError(t, errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)))
	logs := meta.Manager("logs")
	orphaned, ofPods := deployment("orphaned"), deployment("pods")
	orphaned.Annotations[meta.AnnotationOrphaned(logs)] = "true"
	ofPods.Spec.Template.Annotations = map[string]string{meta.AnnotationInjectedEnv(logs): "app LOG=1"}
	cluster := fake.NewClientBuilder().WithScheme(scheme).WithObjects(orphaned, ofPods, deployment("plain")).Build()

	found, err := (&Ejector{Client: cluster, MaxConcurrent: 1}).Clean(t.Context(), "shop")

	require.NoError(t, err)
	require.Len(t, found.Workloads, 2)
	for _, name := range []string{"orphaned", "pods"} {
		var d appsv1.Deployment
		require.NoError(t, cluster.Get(t.Context(), client.ObjectKey{Namespace: "shop", Name: name}, &d))
		require.False(t, workload.IsCarrier(&d), name)
		require.Equal(t, "shop", d.Annotations["team"])
	}
}

// A workload cannot be decoded. Its sidecar and the ConfigMaps of that sidecar stay, and an error is returned. Other
// namespaces are cleaned up.
func TestEjector_KeepsSidecarInUnreadableTemplate(t *testing.T) {
	rollout := &unstructured.Unstructured{}
	require.NoError(t, json.Unmarshal([]byte(`{"apiVersion":"argoproj.io/v1alpha1","kind":"Rollout","metadata":{"name":"cart","namespace":"shop"},"spec":{"template":{"metadata":{"annotations":{`+
		`"vectorsidecar.observability.kontroloop.ai/injected-items.logs":"{\"manager\":\"vectorsidecar/logs\",\"containers\":[\"vector\"]}"}},"spec":{"volumes":"none"}}}}`), rollout))
	const why = "the sidecar cannot be removed: spec.template.spec.volumes cannot be read"

	_, _, err := Strip(nil, rollout)
	require.ErrorContains(t, err, why)

	scheme := runtime.NewScheme()
	require.NoError(t, errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)))
	objects := []client.Object{rollout, &v1alpha1.ClusterVectorSidecar{ObjectMeta: metav1.ObjectMeta{Name: "all", Finalizers: []string{meta.Finalizer}}}}
	for _, namespace := range []string{"pay", "shop"} {
		made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "made"}}
		companion.Label(made, "logs")
		objects = append(objects, made, &v1alpha1.VectorSidecar{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "logs", Finalizers: []string{meta.Finalizer}}})
	}
	cluster := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()

	_, err = (&Ejector{Client: cluster, MaxConcurrent: 1}).Clean(t.Context(), "")

	require.ErrorContains(t, err, "Rollout shop/cart: "+why)
	require.NotErrorAs(t, err, new(*RemainingError), "it is not that something is left: something has failed")
	var sidecars v1alpha1.VectorSidecarList
	require.NoError(t, cluster.List(t.Context(), &sidecars))
	require.Len(t, sidecars.Items, 1, "the other namespace is clean")
	require.Equal(t, "shop", sidecars.Items[0].Namespace)
	var made corev1.ConfigMapList
	require.NoError(t, cluster.List(t.Context(), &made))
	require.Len(t, made.Items, 1)
	require.Equal(t, "shop", made.Items[0].Namespace)
	require.NoError(t, cluster.Get(t.Context(), client.ObjectKey{Name: "all"}, &v1alpha1.ClusterVectorSidecar{}), "it is in all namespaces")
}
