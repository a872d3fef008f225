// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"context"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
)

// shutdownCache is a cache that counts as synced when the operator shuts down. The manager waits until its caches have
// synced, also during a shutdown and then in a busy loop. If the API server did not respond, the process would not
// stop.
type shutdownCache struct {
	cache.Cache
	// running is the context that the signal to stop cancels.
	running context.Context //nolint:containedctx // It is the context of the process.
}

// newShutdownCache returns a function that creates an shutdownCache.
func newShutdownCache(running context.Context) cache.NewCacheFunc {
	return func(config *rest.Config, settings cache.Options) (cache.Cache, error) {
		inner, err := cache.New(config, settings)
		return &shutdownCache{Cache: inner, running: running}, err
	}
}

// WaitForCacheSync returns true once the cache is synced or the operator shuts down.
func (c *shutdownCache) WaitForCacheSync(ctx context.Context) bool {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(c.running, cancel) //nolint:contextcheck // It is the context of the process.
	defer stop()
	return c.Cache.WaitForCacheSync(ctx) || c.running.Err() != nil
}
