// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/companion"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// digested returns an object as the cache holds it.
func digested(t *testing.T, object *corev1.ConfigMap) *corev1.ConfigMap {
	t.Helper()
	cached, err := DigestConfigMaps("vector-system")(object.DeepCopy())
	require.NoError(t, err)
	reduced, ok := cached.(*corev1.ConfigMap)
	require.True(t, ok)
	return reduced
}

// The cache keeps the content of the installation's values. Of other ConfigMaps, including companions, it keeps a
// digest.
func TestDigestConfigMaps_KeepsContentOfValues(t *testing.T) {
	theirs := objects.NewConfigMap("dashboards", "shop", "a.json", "large")
	require.Empty(t, digested(t, theirs).Data)
	require.Equal(t, types.UID(""), digested(t, theirs).UID)

	made := objects.NewConfigMap("logs-vector", "shop", "vector.yaml", "x")
	companion.Label(made, "logs")
	companion.Mark(made)
	require.Empty(t, digested(t, made).Data, "a copy may be large, and there is one for each revision")
	logs := objects.NewVectorSidecar("logs", "shop").Build()
	require.True(t, companion.IsOwnedBy(digested(t, made), logs))
	require.Equal(t, companion.Digest(made), companion.KnownDigest(digested(t, made)))
	theirs.Annotations = map[string]string{companion.ContentDigest: "0"}
	require.Equal(t, companion.Digest(theirs), companion.KnownDigest(digested(t, theirs)))
	ours := objects.NewConfigMap("values", "vector-system", "staging.yaml", "x")
	require.Equal(t, ours.Data, digested(t, ours).Data)
}

// If a cached object is reduced a second time, it does not change.
func TestDigestConfigMaps_KeepsReducedObjectsUnchanged(t *testing.T) {
	made := objects.NewConfigMap("logs-vector", "shop", "vector.yaml", "x")
	companion.Label(made, "logs")
	companion.Mark(made)
	require.Equal(t, digested(t, made), digested(t, digested(t, made)))
}

// The metadata of a ConfigMap is large. The cache keeps only the parts that identify a companion.
func TestDigestConfigMaps_DropsLargeMetadata(t *testing.T) {
	text := strings.Repeat("x", 250<<10)
	for name, change := range map[string]func(*corev1.ConfigMap){
		"labels":      func(c *corev1.ConfigMap) { c.Labels["text"] = text },
		"annotations": func(c *corev1.ConfigMap) { c.Annotations["text"] = text },
		"mark":        func(c *corev1.ConfigMap) { c.Annotations[meta.AnnotationCompanion] = text },
		"finalizers":  func(c *corev1.ConfigMap) { c.Finalizers = []string{text} },
		"owners": func(c *corev1.ConfigMap) {
			c.OwnerReferences = []metav1.OwnerReference{{Kind: "Tenant", Name: text, UID: "1", Controller: new(true)}, {Kind: text, Name: "b", UID: "2"}}
		},
		"a digest like that of the cache": func(c *corev1.ConfigMap) {
			c.Annotations[companion.ContentDigest], c.Labels["text"], c.Data = "0", text, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			object := objects.NewConfigMap("logs-vector", "shop", "vector.yaml", "x")
			object.CreationTimestamp = metav1.Now()
			companion.Label(object, "logs")
			companion.Mark(object)
			change(object)
			cached := digested(t, object)
			require.Less(t, bounded.Footprint(cached), 4<<10)
			require.Equal(t, companion.IsCompanion(object), companion.IsCompanion(cached))
			require.Equal(t, companion.Digest(object), companion.KnownDigest(cached))
		})
	}
}

func TestConfigMapChanges_DetectChangeOfReducedContent(t *testing.T) {
	before := objects.NewConfigMap("shipping", "shop", "vector.yaml", "x")
	after := before.DeepCopy()
	after.Labels = map[string]string{"a": "b"}
	require.Equal(t, digested(t, before).Annotations, digested(t, after).Annotations)
	after.Data["vector.yaml"] = "y"

	require.True(t, passes(configMapChanges(), digested(t, before), func(c *corev1.ConfigMap) { *c = *digested(t, after) }))
}

// live is an API server with one ConfigMap, and counts requests.
type live struct {
	client.Reader
	object *corev1.ConfigMap
	err    error
	asked  int
}

func (l *live) Get(_ context.Context, _ client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	l.asked++
	if object, ok := into.(*corev1.ConfigMap); ok && l.err == nil {
		l.object.DeepCopyInto(object)
	}
	return l.err
}

func TestConfigMapCache_LimitsBytesOfContents(t *testing.T) {
	c := newConfigMapCache(&live{object: objects.NewConfigMap("", "shop", "a.csv", strings.Repeat("x", 1<<20))})
	for n := range 20 {
		object, err := c.get(t.Context(), digested(t, objects.NewConfigMap(fmt.Sprint(n), "shop", "a.csv", "x")))
		require.NoError(t, err)
		require.Len(t, object.Data["a.csv"], 1<<20)
	}
	require.Equal(t, 15, c.known.Len())
}

func TestConfigMapCache_ReadsEachVersionOnce(t *testing.T) {
	there := &live{object: objects.NewConfigMap("shipping", "shop", "vector.yaml", "x")}
	c := newConfigMapCache(there)
	read := func() string {
		object, err := c.get(t.Context(), digested(t, there.object))
		require.NoError(t, err)
		return object.Data["vector.yaml"]
	}
	require.Equal(t, "x", read())
	require.Equal(t, "x", read())
	require.Equal(t, 1, there.asked)

	there.object.Data["vector.yaml"] = "y"
	require.Equal(t, "y", read(), "another content")
	require.Equal(t, 2, there.asked)

	c.forget([]types.NamespacedName{client.ObjectKeyFromObject(there.object)})
	require.Zero(t, c.known.Len(), "nobody asks for it any more")
	there.err = errors.New("no")
	_, err := c.get(t.Context(), digested(t, there.object))
	require.ErrorIs(t, err, there.err)
}
