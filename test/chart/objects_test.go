// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const crdKind = "CustomResourceDefinition"

// objects decodes a manifest with several documents.
func objects(t *testing.T, manifest []byte) []*unstructured.Unstructured {
	t.Helper()
	var found []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(manifest), 4096)
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return found
		}
		require.NoError(t, err)
		if len(object.Object) > 0 {
			found = append(found, object)
		}
	}
}

// findDefinition returns the CustomResourceDefinition of VectorSidecars.
func findDefinition(t *testing.T, all []*unstructured.Unstructured) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	return ofKind[apiextensionsv1.CustomResourceDefinition](t, slices.DeleteFunc(slices.Clone(all), func(object *unstructured.Unstructured) bool {
		return object.GetKind() == crdKind && object.GetName() != crdName
	}), crdKind)
}

// ofKind returns the only object of a kind, as its Go type.
func ofKind[T any](t *testing.T, all []*unstructured.Unstructured, kind string) *T {
	t.Helper()
	var typed *T
	for _, object := range all {
		if object.GetKind() != kind {
			continue
		}
		require.Nil(t, typed, "more than one %s", kind)
		typed = new(T)
		require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object.Object, typed, true))
	}
	require.NotNil(t, typed, "no %s", kind)
	return typed
}

// apply applies an object as Helm would.
func apply(t *testing.T, object *unstructured.Unstructured, options ...client.ApplyOption) {
	t.Helper()
	options = append(options, client.FieldOwner("chart-test"), client.ForceOwnership)
	err := cluster.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(object.DeepCopy()), options...)
	require.NoError(t, err, "%s %q", object.GetKind(), object.GetName())
}

// exists reports whether the cluster has an object.
func exists(t *testing.T, object *unstructured.Unstructured) bool {
	t.Helper()
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(object.GroupVersionKind())
	err := cluster.Get(t.Context(), client.ObjectKeyFromObject(object), live)
	if meta.IsNoMatchError(err) {
		return false
	}
	require.NoError(t, client.IgnoreNotFound(err))
	return err == nil
}
