// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/scenario"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
	"kontroloop.ai/vector-sidecar-operator/test/controlplane"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

// For every scenario of the golden corpus, the plugin on files and the operator on a real API server produce the
// same objects.
func testInjectGivesWhatTheOperatorGives(t *testing.T, _ *controlplane.ControlPlane, w *harness.World) {
	server, err := discovery.NewDiscoveryClientForConfig(w.Config)
	require.NoError(t, err)
	version, err := server.ServerVersion()
	require.NoError(t, err)
	for _, name := range []string{"vector-system", "shop", "warehouse"} {
		w.Create(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
		w.Create(t, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default", Namespace: name}}) // Which a controller makes.
	}
	w.SetValues(t, emptyValues())
	w.StartOperator(t, options)
	scenarios, err := scenario.Load(filepath.Join(root, "test", "golden"))
	require.NoError(t, err)
	compared := 0
	for _, one := range scenarios {
		if _, fails := one.File(scenario.WantError); fails {
			continue
		}
		t.Run(filepath.Base(one.Name), func(t *testing.T) {
			compare(t, w, one, version.GitVersion)
		})
		compared++
	}
	require.Greater(t, compared, 30)
}

func compare(t *testing.T, w *harness.World, one *scenario.Scenario, version string) {
	install(t, w, one)
	configMaps, workloads, sidecars := objectsOf(t, one, scenario.ConfigMaps), objectsOf(t, one, scenario.Workload), objectsOf(t, one, scenario.Sidecar)
	given := slices.Concat(configMaps, workloads, sidecars)
	// The deletion of a VectorSidecar waits for rollouts, and no controller rolls these out.
	t.Cleanup(func() { remove(t, w, slices.Concat(configMaps, sidecars, workloads)) })

	// This is the plugin's output, with the defaults of this API server.
	injected := map[client.ObjectKey]*appsv1.Deployment{}
	companions := map[string]*corev1.ConfigMap{}
	for _, document := range inject(t, one, version) {
		switch object := document.Object.(type) {
		case *appsv1.Deployment:
			if object.Namespace == "" {
				object.Namespace = "shop"
			}
			require.NoError(t, w.Client.Create(t.Context(), object, client.DryRunAll))
			injected[client.ObjectKeyFromObject(object)] = object
		case *corev1.ConfigMap:
			if object.Labels[meta.LabelSidecar] != "" {
				companions[object.Name] = object
			}
		}
	}
	require.NotEmpty(t, injected)

	var sidecar *v1alpha1.VectorSidecar
	for _, object := range given {
		if found, ok := object.(*v1alpha1.VectorSidecar); ok {
			sidecar = found
		}
		create(t, w, object)
	}
	for key, want := range injected {
		live := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
		await(t, w, live, want)
	}
	harness.Until(t, w, sidecar.DeepCopy(), "a reconcile of the current generation", func(vs *v1alpha1.VectorSidecar) bool {
		return vs.Status.ObservedGeneration == vs.Generation
	})
	for name, want := range companions {
		live := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
		w.Get(t, live)
		require.Equal(t, want.Data, live.Data, name)
		require.Equal(t, want.Labels, live.Labels, name)
		require.Equal(t, want.Immutable, live.Immutable, name)
	}
	var made corev1.ConfigMapList
	require.NoError(t, w.Client.List(t.Context(), &made, client.InNamespace("shop"), client.MatchingLabels{meta.LabelSidecar: meta.LabelValue(sidecar.Name)}))
	require.Len(t, made.Items, len(companions), "the operator makes no others")
}

// create creates an object. The API server accepts managedFields only in an update.
func create(t *testing.T, w *harness.World, object client.Object) {
	t.Helper()
	copied, ok := object.DeepCopyObject().(client.Object)
	require.True(t, ok)
	w.Create(t, copied)
	if records := object.GetManagedFields(); len(records) > 0 {
		// The workload's controller may write at the same time.
		require.NoError(t, retry.RetryOnConflict(retry.DefaultBackoff, func() error {
			w.Get(t, copied)
			copied.SetManagedFields(records)
			return w.Client.Update(t.Context(), copied)
		}))
	}
}

// await waits until a live workload equals the expected one, and reports the difference if it does not.
func await(t *testing.T, w *harness.World, live, want *appsv1.Deployment) {
	t.Helper()
	deadline := time.Now().Add(harness.Patience)
	for {
		w.Get(t, live)
		difference := cmp.Diff(bare(want), bare(live))
		if difference == "" {
			return
		}
		if time.Now().After(deadline) {
			require.Fail(t, "the operator gives something else", difference)
		}
		select {
		case <-t.Context().Done():
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// bare returns a Deployment without fields that exist only in a cluster, such as the annotations for the
// installation that wrote it and for the start of its wait.
func bare(deployment *appsv1.Deployment) *appsv1.Deployment {
	object := deployment.DeepCopy()
	annotations := maps.Clone(object.Annotations)
	delete(annotations, "deployment.kubernetes.io/revision")
	maps.DeleteFunc(annotations, func(key, _ string) bool {
		return meta.IsAnnotationKey(key, meta.Group+"/written-by") || meta.IsWaiting(key)
	})
	if len(annotations) == 0 {
		annotations = nil
	}
	object.ObjectMeta = metav1.ObjectMeta{Name: object.Name, Namespace: object.Namespace, Labels: object.Labels, Annotations: annotations}
	object.TypeMeta, object.Status = metav1.TypeMeta{}, appsv1.DeploymentStatus{}
	return object
}

// inject runs the plugin on the files of a scenario.
func inject(t *testing.T, one *scenario.Scenario, version string) []source.Document {
	t.Helper()
	folder := t.TempDir()
	arguments := []string{"inject", "--kube-version", version}
	for name, text := range one.Files() {
		file := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(file, text, 0o600))
		switch name {
		case scenario.Workload, scenario.ConfigMaps:
			arguments = append(arguments, "-f", file)
		case scenario.Sidecar:
			arguments = append(arguments, "--sidecar", file)
		case scenario.Values:
			arguments = append(arguments, "--values", file)
		case scenario.Environment:
			arguments = append(arguments, "--environment", strings.TrimSpace(string(text)))
		}
	}
	documents, err := source.Parse("the output", runs(t, arguments...), nil)
	require.NoError(t, err)
	return documents
}

// install sets the scenario's environment on the namespace and its values in the installation.
func install(t *testing.T, w *harness.World, one *scenario.Scenario) {
	t.Helper()
	environment := "development"
	if text, ok := one.File(scenario.Environment); ok {
		environment = strings.TrimSpace(text)
	}
	values := emptyValues()
	if text, ok := one.File(scenario.Values); ok {
		given, err := desired.ReadInstallationValues(t.Context(), vectorsidecar.FS, scenario.Values, []byte(text), environment)
		require.NoError(t, err)
		values.Data = given.Files()
	}
	w.SetValues(t, values)
	harness.Change(t, w, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}, func(namespace *corev1.Namespace) {
		metav1.SetMetaDataLabel(&namespace.ObjectMeta, meta.LabelEnvironment, environment)
	})
}

func objectsOf(t *testing.T, one *scenario.Scenario, file string) (all []client.Object) {
	t.Helper()
	text, _ := one.File(file)
	documents, err := source.Parse(file, []byte(text), nil)
	require.NoError(t, err)
	for _, document := range documents {
		require.NotNil(t, document.Object, "%s holds a %s", one.Name, document.Kind)
		all = append(all, document.Object)
	}
	return all
}

// remove deletes objects, the last first, and waits until each is gone.
func remove(t *testing.T, w *harness.World, objects []client.Object) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	for _, object := range slices.Backward(objects) {
		require.NoError(t, client.IgnoreNotFound(w.Client.Delete(ctx, object)))
		harness.Eventually(t, "an object to be gone", func() bool {
			return apierrors.IsNotFound(w.Client.Get(ctx, client.ObjectKeyFromObject(object), object))
		})
	}
}
