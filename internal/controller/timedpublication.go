// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"kontroloop.ai/vector-sidecar-operator/internal/controller/notify"
)

// timedPublication requests a reconcile of all VectorSidecars and ClusterVectorSidecars when the platform's ConfigMaps
// are published without an event. It runs on every replica, because a standby replica publishes the same content as the
// leader.
type timedPublication struct {
	catalog  *catalogReader
	sidecars sidecarLister
	notifier *notify.Notifier
}

// Start publishes at each time of the timer until the context ends.
func (p *timedPublication) Start(ctx context.Context) error {
	p.catalog.timer.run(ctx, p.publish)
	return nil
}

func (p *timedPublication) publish(ctx context.Context) {
	if _, err := p.catalog.current(ctx); err != nil && ctx.Err() == nil {
		log.FromContext(ctx).Error(err, "reading the platform's ConfigMaps")
	}
	p.notifier.NotifyWithLowPriority(platformReaders(ctx, p.sidecars)...)
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (*timedPublication) NeedLeaderElection() bool { return false }
