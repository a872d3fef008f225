// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/environment"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/policy"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// inNamespace is what a ClusterVectorSidecar whose sidecar has a log level is in a namespace.
func inNamespace(namespace, level string) *v1alpha1.VectorSidecar {
	return objects.NewVectorSidecar(meta.ClusterSidecarName("logs"), namespace).Selecting("logs", "vector").Sidecar(func(s *v1alpha1.SidecarSpec) { s.LogLevel = level }).Build()
}

// Namespaces share merged values. If the values of the namespace or the workload, the spec or the environment differ,
// the values are merged separately.
func TestValues_ShareMergedValuesBetweenNamespaces(t *testing.T) {
	platform, cache := builtIn(t), NewCache()
	merge := func(sidecar *v1alpha1.VectorSidecar, platform *Platform, overrides []environment.Layer, configMaps ...*corev1.ConfigMap) mergedValues {
		t.Helper()
		inputs := &Inputs{Sidecar: sidecar, Platform: platform, ConfigMaps: setOf(configMaps)}
		set, err := platform.Set("")
		require.NoError(t, err)
		from := sources{Inputs: inputs, reader: NewReader(t.Context(), inputs), read: map[string]*corev1.ConfigMap{}}
		defer from.reader.Release()
		found, invalid := from.values(cache, set, "development", overrides...)
		require.Nil(t, invalid)
		require.Equal(t, digestValues(found.Values), found.digest)
		return found
	}
	level := func(of mergedValues) any {
		sidecar, _ := of.Tree["sidecar"].(map[string]any)
		return sidecar["logLevel"]
	}
	isSame := func(a, b mergedValues) bool {
		return reflect.ValueOf(a.Tree).Pointer() == reflect.ValueOf(b.Tree).Pointer()
	}

	first := merge(inNamespace("shop", "warn"), platform, nil)
	require.Equal(t, "warn", level(first))
	require.True(t, isSame(first, merge(inNamespace("pay", "warn"), platform, nil)))
	require.NotContains(t, first.Origin("sidecar", "logLevel"), "shop", "its spec is that of all namespaces")

	require.Equal(t, "error", level(merge(inNamespace("pay", "error"), platform, nil)))
	allowing := *platform
	var err error
	allowing.Policy, err = policy.Parse("policy", []byte("overrides: {namespaces: [sidecar.logLevel], workloads: [sidecar.logLevel]}"))
	require.NoError(t, err)
	defaults := objects.NewConfigMap(meta.NamespaceDefaults, "pay", meta.NamespaceDefaultsKey, "sidecar: {logLevel: trace}")
	ofNamespace := merge(inNamespace("pay", "warn"), &allowing, nil, defaults)
	require.False(t, isSame(first, ofNamespace))
	require.Len(t, ofNamespace.layers.namespace, 1)
	layer, err := environment.ParseValue("annotation", "sidecar.logLevel", []byte("debug"))
	require.NoError(t, err)
	require.Equal(t, "debug", level(merge(inNamespace("pay", "warn"), platform, []environment.Layer{layer})))
	require.True(t, isSame(first, merge(inNamespace("mail", "warn"), platform, nil)), "what is of one namespace or workload is not kept")

	other := builtIn(t)
	again := merge(inNamespace("shop", "warn"), other, nil)
	require.False(t, isSame(first, again), "of another environment")
	mine, theirs := logs().Build(), objects.NewVectorSidecar("logs", "pay").Selecting("logs", "vector").Build()
	require.Contains(t, merge(mine, other, nil).layers.sidecar[0].Name, "shop/logs")
	require.Contains(t, merge(theirs, other, nil).layers.sidecar[0].Name, "pay/logs", "errors name the owner")
}

// Two policies apply to the same rendering. It is rendered once and checked against each, because one policy may reject a
// field that the other allows.
func TestExecution_ChecksEachPolicy(t *testing.T) {
	cache := NewCache()
	for namespace, rules := range map[string]string{"shop": "", "pay": "images: {requireDigest: true}", "mail": ""} {
		platform := builtIn(t)
		var err error
		platform.Policy, err = policy.Parse("policy", []byte(rules))
		require.NoError(t, err)
		made := ofPlatform(t, platform, objects.NewVectorSidecar("logs", namespace).WithLogs("/var/log/app").Build(), cache)
		view := settled(services(1)[0])
		view.Namespace = namespace
		found := made.CommonVariant().WorkloadFor(t.Context(), &view)
		require.Equal(t, rules != "", found.Invalid != nil, namespace)
	}
}

// A user sets a value to its default. The rendering is shared, but the digest of the requested input differs.
func TestExecution_SeparatesRequestedInputs(t *testing.T) {
	cache, runs, digests := NewCache(), 0, map[string]bool{}
	for _, sidecar := range []*v1alpha1.VectorSidecar{inNamespace("shop", ""), inNamespace("pay", "debug"), inNamespace("mail", "")} {
		made := of(t, sidecar, cache).CommonVariant()
		made.renderer.observer = counting(Render, &runs)
		view := settled(services(1)[0])
		view.Namespace = sidecar.Namespace
		found := made.WorkloadFor(t.Context(), &view)
		require.Nil(t, found.Invalid)
		digests[found.Desired.InputDigest()] = true
	}
	require.Equal(t, 1, runs)
	require.Len(t, digests, 2)
}

// The first namespace that needs a rendering has all of its bytes counted. Further namespaces that share it have only
// their own part counted.
func TestExecution_CountsBytesForFirstNamespace(t *testing.T) {
	cache := NewCache()
	var bytes []int
	for _, namespace := range []string{"shop", "pay", "mail"} {
		view := settled(services(1)[0])
		view.Namespace = namespace
		found := of(t, inNamespace(namespace, "warn"), cache).CommonVariant().WorkloadFor(t.Context(), &view)
		require.Nil(t, found.Invalid)
		bytes = append(bytes, found.Rendered.Bytes())
	}
	require.Greater(t, bytes[0], 2*bytes[1])
	require.InDelta(t, bytes[1], bytes[2], 100)
}
