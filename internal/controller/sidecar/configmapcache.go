// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"context"
	"fmt"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/clusterwide"
	"kontroloop.ai/vector-sidecar-operator/internal/companion"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// DigestConfigMaps returns a transform for the cache that replaces the content of ConfigMaps by a digest. There are many
// ConfigMaps, some are large, and few concern the operator. ConfigMaps in the operator namespace are kept whole, with
// managedFields, which have the times of writes. The transform keeps the label, the annotation and the controller owner
// that identify the owner of a companion, without other metadata.
func DigestConfigMaps(namespace string) func(any) (any, error) {
	return func(cached any) (any, error) {
		object, ok := cached.(*corev1.ConfigMap)
		if !ok {
			return cached, nil
		}
		if object.Namespace == namespace {
			return object, nil
		}
		object.ManagedFields = nil
		if isReduced(object) {
			return object, nil
		}
		reduced := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
			Namespace: object.Namespace, Name: object.Name, UID: object.UID, ResourceVersion: object.ResourceVersion,
			Annotations: map[string]string{companion.ContentDigest: companion.Digest(object)},
		}}
		if metav1.GetControllerOfNoCopy(object) != nil {
			reduced.OwnerReferences = []metav1.OwnerReference{{Controller: new(true)}}
		}
		if label, exists := object.Labels[meta.LabelSidecar]; exists {
			mark := object.Annotations[meta.AnnotationCompanion]
			reduced.Labels = map[string]string{meta.LabelSidecar: label}
			reduced.Annotations[meta.AnnotationCompanion] = strings.Clone(mark[:min(len(mark), mostMark)])
		}
		return reduced, nil
	}
}

// DropLargeContent is a transform for the cache. It drops the content of ClusterVectorSidecars that are too large, and of
// large VectorSidecars. It drops the managedFields of all of them.
func DropLargeContent(cached any) (any, error) {
	if cluster, ok := cached.(*v1alpha1.ClusterVectorSidecar); ok {
		cluster.ManagedFields = nil
		return clusterwide.TruncateOversized(cluster), nil
	}
	sidecar, ok := cached.(*v1alpha1.VectorSidecar)
	if !ok {
		return cached, nil
	}
	return desired.ReduceForCache(sidecar), nil
}

// mostMark is the maximum length of the companion mark in the cache. It is longer than the name of a ConfigMap, so that a
// truncated mark is not the name.
const mostMark = 254

// isReduced reports whether the content of a ConfigMap has been dropped already, because objects of a streaming list
// pass the transform twice. Users may set the annotation, but all objects of the API server have a creation time.
func isReduced(object *corev1.ConfigMap) bool {
	return object.Annotations[companion.ContentDigest] != "" && len(object.Data)+len(object.BinaryData) == 0 && object.CreationTimestamp.IsZero()
}

// mostContent is the maximum size of the cached ConfigMaps in bytes. Tenants may refer to any number of ConfigMaps of
// up to 1 MiB each.
const mostContent = 16 << 20

// configMapCache has the content of ConfigMaps that a VectorSidecar refers to, because the informer cache drops it.
// Each content is read once, if all of them fit into the cache.
type configMapCache struct {
	live client.Reader

	mu    sync.Mutex
	known *bounded.Store[content] // by NAMESPACE/NAME
}

type content struct {
	digest string
	object *corev1.ConfigMap
}

func newConfigMapCache(live client.Reader) *configMapCache {
	return &configMapCache{live: live, known: bounded.NewStore[content](mostContent)}
}

// get returns the complete ConfigMap for one from the informer cache, or nil if it was deleted.
func (c *configMapCache) get(ctx context.Context, cached *corev1.ConfigMap) (*corev1.ConfigMap, error) {
	digest, ok := cached.Annotations[companion.ContentDigest]
	if !ok {
		return cached, nil
	}
	name := client.ObjectKeyFromObject(cached)
	configMap, err := c.getWhole(ctx, name, digest)
	if configMap == nil || err != nil {
		return nil, err
	}
	// The live ConfigMap may be newer than the one in the informer cache. Its event then comes later.
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known.Put(name.String(), content{companion.Digest(configMap), configMap}, bounded.Footprint(configMap))
	return configMap, nil
}

// getUncached does the same as get, without caching the content.
func (c *configMapCache) getUncached(ctx context.Context, cached *corev1.ConfigMap) (*corev1.ConfigMap, error) {
	digest, ok := cached.Annotations[companion.ContentDigest]
	if !ok {
		return cached, nil
	}
	return c.getWhole(ctx, client.ObjectKeyFromObject(cached), digest)
}

// getWhole returns the cached ConfigMap if it has the digest. Otherwise, it reads the ConfigMap from the API server.
func (c *configMapCache) getWhole(ctx context.Context, name types.NamespacedName, digest string) (*corev1.ConfigMap, error) {
	c.mu.Lock()
	entry := c.known.Get([]byte(name.String()))
	c.mu.Unlock()
	if entry.digest == digest {
		return entry.object, nil
	}
	configMap := &corev1.ConfigMap{}
	switch err := c.live.Get(ctx, name, configMap); {
	case apierrors.IsNotFound(err):
		return nil, nil //nolint:nilnil // A missing ConfigMap is not an error.
	case err != nil:
		return nil, fmt.Errorf("reading ConfigMap %s: %w", name, err)
	}
	return configMap, nil
}

// forget drops ConfigMaps that VectorSidecars no longer refer to.
func (c *configMapCache) forget(names []types.NamespacedName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range names {
		c.known.Drop(name.String())
	}
}
