// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/evaluate"
)

// ConfigMaps reads ConfigMaps.
type ConfigMaps interface {
	// ConfigMap reads a ConfigMap. It returns nil if there is none. If one may exist and cannot be
	// read, that is an error.
	ConfigMap(ctx context.Context, name types.NamespacedName) (*corev1.ConfigMap, error)
}

// mostRounds bounds how often a snapshot is completed. Each round follows references one step
// further: from the namespace's defaults to the ConfigMap that the values name, from there to the
// copies made of it, and once more for a rollout in progress.
const mostRounds = 8

// Decide evaluates a snapshot. Which ConfigMaps a decision depends on follows from the merged
// values and from what is rendered: those that turn out to be missing from the snapshot are added,
// and it is evaluated again, until it has them all. cache may be nil. The error is that of a
// ConfigMap that cannot be read, or as for evaluate.Decide.
func Decide(ctx context.Context, taken *evaluate.Snapshot, from ConfigMaps, cache *desired.Cache) (*decision.Decision, error) {
	var decided *decision.Decision
	for range mostRounds {
		var err error
		if decided, err = evaluate.Decide(ctx, taken, cache); err != nil || len(decided.Unread) == 0 {
			return decided, err
		}
		if err := Read(ctx, taken, from, decided.Unread); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("VectorSidecar %s/%s: its ConfigMaps refer to further ConfigMaps without end, last to %s",
		taken.Sidecar.Namespace, taken.Sidecar.Name, strings.Join(decided.Unread, ", "))
}

// Read adds the named ConfigMaps that a snapshot does not have yet.
func Read(ctx context.Context, taken *evaluate.Snapshot, from ConfigMaps, names []string) error {
	for _, name := range names {
		if _, isKnown := taken.ConfigMaps[name]; isKnown {
			continue
		}
		object, err := from.ConfigMap(ctx, types.NamespacedName{Namespace: taken.Sidecar.Namespace, Name: name})
		if err != nil {
			return err
		}
		if taken.ConfigMaps == nil {
			taken.ConfigMaps = map[string]*corev1.ConfigMap{}
		}
		taken.ConfigMaps[name] = object
	}
	return nil
}
