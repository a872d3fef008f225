// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecarcache

import (
	"context"
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

const (
	// IndexSelector finds VectorSidecars by a label that their selector requires.
	IndexSelector = "selector"
	// IndexManager finds VectorSidecars by their field manager.
	IndexManager = "manager"
	// IndexLabel finds VectorSidecars by the label of their companions: the name, or its digest if
	// it is too long for a label.
	IndexLabel = "label"
)

// AddIndexes adds the indexes of VectorSidecars to a cache.
func AddIndexes(ctx context.Context, indexer client.FieldIndexer) error {
	for _, index := range []struct {
		object client.Object
		name   string
		keys   client.IndexerFunc
	}{
		{&v1alpha1.VectorSidecar{}, IndexSelector, SelectorKeys},
		{&v1alpha1.VectorSidecar{}, IndexManager, func(object client.Object) []string {
			return []string{meta.Manager(object.GetName())}
		}},
		{&v1alpha1.VectorSidecar{}, IndexLabel, func(object client.Object) []string {
			return []string{meta.LabelValue(object.GetName())}
		}},
	} {
		if err := indexer.IndexField(ctx, index.object, index.name, index.keys); err != nil {
			return fmt.Errorf("index %q: %w", index.name, err)
		}
	}
	return nil
}

// SelectorKeys returns the keys of a VectorSidecar in IndexSelector. Every workload that its selector matches has at
// least one of them: the first required pair of label and value, a pair that an In expression allows, or AnyLabels. A
// VectorSidecar that is too large for the cache has none.
func SelectorKeys(object client.Object) []string {
	sidecar, ok := object.(*v1alpha1.VectorSidecar)
	if !ok || desired.IsReduced(sidecar) {
		return nil
	}
	selector := &sidecar.Spec.Selector
	for _, key := range slices.Sorted(maps.Keys(selector.MatchLabels)) {
		return []string{workloadcache.LabelKey(key, selector.MatchLabels[key])}
	}
	for _, expression := range selector.MatchExpressions {
		if expression.Operator == metav1.LabelSelectorOpIn {
			var keys []string
			for _, value := range expression.Values {
				keys = append(keys, workloadcache.LabelKey(expression.Key, value))
			}
			return keys
		}
	}
	return []string{workloadcache.AnyLabels}
}
