// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"context"

	"kontroloop.ai/vector-sidecar-operator/internal/controller/notify"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/sidecarcache"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
)

// resyncer requests, at intervals, a reconcile of every VectorSidecar without earlier renderings and evaluations, so
// that a wrong cached state does not last. The records of writes and rejections remain, because they still apply in
// the cluster.
type resyncer struct {
	sidecars *sidecarcache.Lister
	memory   *state.Memory
	notifier *notify.Notifier
}

func (r resyncer) requestResyncs(ctx context.Context) error {
	for _, name := range sidecarcache.Keys(r.sidecars.ListIn(ctx, "")) {
		r.memory.GetOrCreate(name).RequestResync()
		r.notifier.NotifyWithLowPriority(name)
	}
	return nil
}
