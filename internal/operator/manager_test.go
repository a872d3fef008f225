// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/clusterwide"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// transformFor returns the transform function of the cache for a kind.
func transformFor(t *testing.T, settings *cache.Options, object client.Object) func(any) (any, error) {
	t.Helper()
	for kind, options := range settings.ByObject {
		if reflect.TypeOf(kind) == reflect.TypeOf(object) {
			require.NotNil(t, options.Transform)
			return options.Transform
		}
	}
	return settings.DefaultTransform
}

// A tenant may create thousands of the largest objects of each kind. The cache keeps a small part of each.
func TestCacheOptions_ReducesLargeObjects(t *testing.T) {
	text := strings.Repeat("x", 600<<10)
	settings := cacheOptions(Options{Namespace: "vector-system", AdmissionInjection: true}, informerOptions{workloads: workloadcache.New()})
	objects := []client.Object{
		&corev1.ConfigMap{Data: map[string]string{"a": text}},
		&v1alpha1.VectorSidecar{},
		&v1alpha1.OverlaySet{},
		clusterwide.NewNamespaceMetadata(""),
		&batchv1.Job{Status: batchv1.JobStatus{Conditions: []batchv1.JobCondition{{Type: batchv1.JobFailed, Message: text}}}},
	}
	for _, kind := range workload.Kinds() {
		if kind.Kind != "Job" {
			objects = append(objects, kind.New())
		}
	}
	for _, object := range objects {
		object.SetNamespace("shop")
		object.SetName("app")
		object.SetCreationTimestamp(metav1.Now())
		object.SetLabels(map[string]string{meta.LabelValidation: "a", meta.LabelSidecar: "logs", "text": text})
		object.SetAnnotations(map[string]string{meta.AnnotationCompanion: text, meta.AnnotationInject: text, "text": text})
		object.SetFinalizers([]string{text})
		object.SetOwnerReferences([]metav1.OwnerReference{{Kind: text, Name: text, Controller: new(true)}})
		if _, isNamespace := object.(*metav1.PartialObjectMetadata); isNamespace {
			object.SetLabels(nil) // All labels of a Namespace are cached.
		}
		cached, err := transformFor(t, &settings, object)(object)
		require.NoError(t, err)
		require.Less(t, bounded.Footprint(cached), 16<<10, "%T", object)
	}
}
