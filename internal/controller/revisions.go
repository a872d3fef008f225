// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/companion"
)

const (
	// firstLook and lastLook are when to look again whether an old companion is
	// still referred to; each wait is twice the one before.
	firstLook = 5 * time.Second
	lastLook  = time.Hour
	// replicaSetsAtOnce bounds what one answer of the API server holds.
	replicaSetsAtOnce = 100
)

// history keeps companions that a workload can be rolled back to: a ReplicaSet
// refers to them. ReplicaSets are not cached, there are many and they are needed
// rarely; they are listed when a companion is about to go.
type history struct {
	live client.Reader
	now  func() time.Time

	mu   sync.Mutex
	kept map[types.NamespacedName]map[string]look
}

// look is when a companion is looked at next, and the wait after that.
type look struct {
	at   time.Time
	wait time.Duration
}

func newHistory(live client.Reader, now func() time.Time) *history {
	return &history{live: live, now: now, kept: map[types.NamespacedName]map[string]look{}}
}

// unused returns those of the names that no ReplicaSet of the owner's namespace
// refers to, and how long to wait before asking again; 0 for ever. Names that were
// asked for lately are taken as used.
func (h *history) unused(ctx context.Context, owner types.NamespacedName, names []string) (free []string, wait time.Duration, err error) {
	if h.isDue(owner, names) {
		used, err := h.used(ctx, owner.Namespace)
		if err != nil {
			return nil, 0, err
		}
		free = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return used[name] })
	}
	return free, h.keep(owner, names, free), nil
}

func (h *history) isDue(owner types.NamespacedName, names []string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.ContainsFunc(names, func(name string) bool { return !h.now().Before(h.kept[owner][name].at) })
}

// keep notes the names that are not free, and forgets all others.
func (h *history) keep(owner types.NamespacedName, names, free []string) (wait time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	before, now := h.kept[owner], h.now()
	delete(h.kept, owner)
	for _, name := range names {
		if slices.Contains(free, name) {
			continue
		}
		next := before[name]
		if !now.Before(next.at) {
			next.wait = min(max(firstLook, 2*next.wait), lastLook)
			next.at = now.Add(next.wait)
		}
		if h.kept[owner] == nil {
			h.kept[owner] = map[string]look{}
		}
		h.kept[owner][name] = next
		if left := next.at.Sub(now); wait == 0 || left < wait {
			wait = left
		}
	}
	return wait
}

// used are the names of the ConfigMaps that ReplicaSets of a namespace refer to.
func (h *history) used(ctx context.Context, namespace string) (map[string]bool, error) {
	used := map[string]bool{}
	page := &appsv1.ReplicaSetList{}
	for {
		err := h.live.List(ctx, page, client.InNamespace(namespace), client.Limit(replicaSetsAtOnce), client.Continue(page.Continue))
		if err != nil {
			return nil, fmt.Errorf("looking for ReplicaSets that refer to an old configuration: %w", err)
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
