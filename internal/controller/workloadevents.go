// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"

	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// workloadEvents is the source of workload events. It is necessary because the sources of controller-runtime accept
// objects, not records.
type workloadEvents struct {
	*workloadAPIs

	// concerns returns the VectorSidecars that depend on a workload with the given known states.
	concerns func(ctx context.Context, states ...*workloadcache.Record) []types.NamespacedName
	// synced reports for each kind whether the event handler has received every workload of the initial list.
	synced  []toolscache.InformerSynced
	started chan error
}

// Start implements Source. The controller calls it once.
func (w *workloadEvents) Start(ctx context.Context, _ queue) error {
	w.started = make(chan error, 1)
	go func() { w.started <- w.followAPIs(ctx) }()
	return nil
}

// followAPIs adds the event handlers to the informers. It runs in its own goroutine, because its requests to the API server
// must not delay the start of other sources.
func (w *workloadEvents) followAPIs(ctx context.Context) error {
	enqueue := func(states ...*workloadcache.Record) {
		w.notifier.Notify(w.concerns(ctx, states...)...)
	}
	for _, kind := range w.workloads.Kinds() {
		if kind.Traits.OptionalAPI {
			synced, err := w.detectAPI(ctx, kind, enqueue)
			if err != nil {
				return err
			}
			if synced != nil {
				w.synced = append(w.synced, synced)
			}
			continue
		}
		synced, err := w.start(ctx, kind, enqueue)
		if err != nil {
			return err
		}
		w.synced = append(w.synced, synced)
	}
	return nil
}

// WaitForSync returns when the workload cache has every workload.
func (w *workloadEvents) WaitForSync(ctx context.Context) error {
	select {
	case err := <-w.started:
		if err != nil {
			return err
		}
	case <-ctx.Done():
		return errors.New("the workload cache has not synced yet")
	}
	if !toolscache.WaitForCacheSync(ctx.Done(), w.synced...) {
		return errors.New("the workload cache has not synced yet")
	}
	w.workloads.SetSynced()
	return nil
}

// String returns the name of the source for messages.
func (w *workloadEvents) String() string { return "workloads" }
