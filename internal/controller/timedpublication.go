// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/log"
)

// timedPublication requests a reconcile of everything when the platform's ConfigMaps are published by time alone. Every
// replica has one: a standby publishes the same as the leader.
type timedPublication struct {
	catalog  *catalogReader
	sidecars sidecarLister
	resyncs  *resyncs
	elected  <-chan struct{}
}

// Start waits for the times until the context ends.
func (p *timedPublication) Start(ctx context.Context) error {
	p.catalog.timer.run(ctx, p.publish)
	return nil
}

func (p *timedPublication) publish(ctx context.Context) {
	if _, err := p.catalog.current(ctx); err != nil && ctx.Err() == nil {
		log.FromContext(ctx).Error(err, "reading the platform's ConfigMaps")
	}
	select {
	case <-p.elected:
	default: // The leader's first reconciles read what is published then.
		return
	}
	for _, name := range platformReaders(ctx, p.sidecars) {
		p.resyncs.ask(ctx, name)
	}
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (*timedPublication) NeedLeaderElection() bool { return false }
