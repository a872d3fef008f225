// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/companion"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
)

// replicaSetsAtOnce is the page size of a list request.
const replicaSetsAtOnce = 100

// unusedRevisions returns those companions that no workload can be rolled back to, because no
// ReplicaSet of the namespace refers to them, and how long to wait before checking again; 0 for
// ever. Companions that were checked recently count as used.
func unusedRevisions(ctx context.Context, live client.Reader, known *state.Sidecar, namespace string, companions []string) (free []string, wait time.Duration, err error) {
	if known.IsRevisionDue(companions) {
		used, err := usedRevisions(ctx, live, namespace)
		if err != nil {
			return nil, 0, err
		}
		free = slices.DeleteFunc(slices.Clone(companions), func(name string) bool { return used[name] })
	}
	return free, known.KeepRevisions(companions, free), nil
}

// usedRevisions returns the names of the ConfigMaps that ReplicaSets of a namespace refer to.
// ReplicaSets are listed when a companion is about to be deleted; they are not cached, because
// there are many and they are needed rarely.
func usedRevisions(ctx context.Context, live client.Reader, namespace string) (map[string]bool, error) {
	used := map[string]bool{}
	page := &appsv1.ReplicaSetList{}
	for {
		err := live.List(ctx, page, client.InNamespace(namespace), client.Limit(replicaSetsAtOnce), client.Continue(page.Continue))
		if err != nil {
			return nil, fmt.Errorf("listing ReplicaSets that may refer to an old configuration: %w", err)
		}
		for i := range page.Items {
			for _, name := range companion.References(&page.Items[i].Spec.Template.Spec) {
				used[name] = true
			}
		}
		if page.Continue == "" {
			return used, nil
		}
	}
}
