// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"context"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
)

// endingCache counts as filled once the operator is told to stop. The manager waits for
// its caches until they are filled, whatever it is told, and on one core at full speed
// from the signal to stop on: without an answer from the API server it would be killed.
type endingCache struct {
	cache.Cache
	// running ends with the signal to stop.
	running context.Context //nolint:containedctx // It is that of the process.
}

func newEndingCache(running context.Context) cache.NewCacheFunc {
	return func(config *rest.Config, settings cache.Options) (cache.Cache, error) {
		made, err := cache.New(config, settings)
		return &endingCache{Cache: made, running: running}, err
	}
}

// WaitForCacheSync returns true when the cache is filled or nobody needs it any more.
func (c *endingCache) WaitForCacheSync(ctx context.Context) bool {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(c.running, cancel) //nolint:contextcheck // It is that of the process.
	defer stop()
	return c.Cache.WaitForCacheSync(ctx) || c.running.Err() != nil
}
