// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/companion"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// unusedRevisions returns those companions that no workload can be rolled back to, because no
// revision of the namespace refers to them, and how long to wait before checking again; 0 for
// never. Companions that were checked recently count as used.
func unusedRevisions(ctx context.Context, live *livelist.Client, kinds []*workload.Kind, known *state.Sidecar, namespace string, companions []string) (free []string, wait time.Duration, err error) {
	if known.IsRevisionDue(companions) {
		used, err := usedBy(ctx, live, workload.HoldersOf(kinds), namespace)
		if err != nil {
			return nil, 0, err
		}
		free = slices.DeleteFunc(slices.Clone(companions), func(name string) bool { return used[name] })
	}
	return free, known.KeepRevisions(companions, free), nil
}

// usedBy returns the names of the ConfigMaps that revisions of workloads of a namespace, and
// Jobs, refer to. They are listed when a companion is about to be deleted, and not cached, because
// there are many and they are needed rarely.
func usedBy(ctx context.Context, live *livelist.Client, holders []workload.Holder, namespace string) (map[string]bool, error) {
	used := map[string]bool{}
	for _, holder := range holders {
		references, err := livelist.Collect(ctx, live, holder.NewList(), func(object client.Object) ([]string, bool) {
			pod, ok := workload.PodOf(object)
			if !ok {
				return nil, false
			}
			return companion.References(pod), true
		}, client.InNamespace(namespace))
		if err != nil {
			return nil, fmt.Errorf("listing %s that may refer to an old configuration: %w", holder.Plural, err)
		}
		for _, name := range slices.Concat(references...) {
			used[name] = true
		}
	}
	return used, nil
}
