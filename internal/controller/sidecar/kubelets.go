// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"context"
	"sync/atomic"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
)

const (
	// kubeletInterval is the approximate interval of listing nodes, and kubeletTimeout is the timeout of the request.
	kubeletInterval = 5 * time.Minute
	kubeletTimeout  = 30 * time.Second
)

// Nodes finds the oldest kubelet of a cluster.
type Nodes interface {
	OldestKubelet(ctx context.Context) (desired.Kubelet, error)
}

// kubelets caches the oldest kubelet of the cluster. Every replica reads it, because every replica answers admission
// requests.
type kubelets struct {
	nodes Nodes // nil if nodes are not read
	last  atomic.Pointer[desired.Kubelet]
}

// oldest returns the oldest kubelet that was last found.
func (k *kubelets) oldest() desired.Kubelet {
	if kubelet := k.last.Load(); kubelet != nil {
		return *kubelet
	}
	return desired.Kubelet{}
}

// readOldest reads the oldest kubelet, and reports whether it has changed.
func (k *kubelets) readOldest(ctx context.Context) (isNew bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, kubeletTimeout)
	defer cancel()
	kubelet, err := k.nodes.OldestKubelet(ctx)
	if err != nil {
		return false, err
	}
	previous := k.last.Swap(&kubelet)
	return previous == nil || *previous != kubelet, nil
}

// refresh reads the oldest kubelet again and reports whether it has changed. If nodes cannot be listed, the last
// result stays valid, because sidecars would change without it.
func (k *kubelets) refresh(ctx context.Context) (isNew bool) {
	isNew, err := k.readOldest(ctx)
	if err != nil && ctx.Err() == nil {
		telemetry.Warn(log.FromContext(ctx), "cannot list nodes", "cause", err.Error())
	}
	if isNew {
		log.FromContext(ctx).Info("changed the oldest kubelet", "kubelet", k.oldest().Version, "node", k.oldest().Node)
	}
	return isNew
}
