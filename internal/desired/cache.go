// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"slices"
	"sync"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
	vectorconfig "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/config"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// These constants are the limits of a Cache in bytes, for a container with the chart's memory limit. A
// rendering uses about ten kilobytes, and up to a megabyte. mostRendered is the limit for renderings. The
// others are for results that namespaces share and for results of configuration checks.
const (
	mostRendered = 20 << 20
	mostExecuted = 4 << 20
	mostRead     = 1 << 20
	mostMerged   = 1 << 20
	mostReported = 8 << 20
)

// Cache caches renderings and checks by all of their inputs, so that a reconcile without changes does not
// render anything. It does not affect results, and its size is limited in bytes. It is safe for concurrent use.
// A nil Cache does not cache anything.
type Cache struct {
	mu       sync.Mutex
	rendered *bounded.Store[*Rendered]
	// executions are the renderings that are the same in all namespaces.
	executions *bounded.Store[*sharedRendering]
	// read contains, by request, the lists of workload fields that the renderings of the request have read.
	// Most workloads have the same list, so that one lookup usually finds a rendering.
	read    *bounded.Store[[][]tree.Read]
	reports *bounded.Store[*vectorconfig.Report]
	// merged are the merged values of ClusterVectorSidecars.
	merged *bounded.Store[mergedValues]
}

// NewCache returns an empty Cache.
func NewCache() *Cache {
	return &Cache{
		rendered: bounded.NewStore[*Rendered](mostRendered), executions: bounded.NewStore[*sharedRendering](mostExecuted),
		read:    bounded.NewStore[[][]tree.Read](mostRead),
		reports: bounded.NewStore[*vectorconfig.Report](mostReported),
		merged:  bounded.NewStore[mergedValues](mostMerged),
	}
}

// readBy returns the lists of fields that the renderings of a request have read.
func (c *Cache) readBy(common []byte) [][]tree.Read { return getCached(c, c.read, common) }

// mostReads is the maximum number of different lists of fields for one request, because each list costs a
// lookup for every workload. Templates that look up a label by the name of the workload would otherwise have
// one list for each workload.
const mostReads = 16

// noteRead records the fields that a rendering of a request has read. It returns the fields for the cache key.
// If the request has too many different lists, these are the whole keys that contain the fields.
func (c *Cache) noteRead(common []byte, reads []tree.Read) []tree.Read {
	c.mu.Lock()
	defer c.mu.Unlock()
	recorded := c.read.Get(common)
	isKnown := func() bool {
		return slices.ContainsFunc(recorded, func(entry []tree.Read) bool { return slices.EqualFunc(entry, reads, tree.Read.Equal) })
	}
	if len(recorded) >= mostReads && !isKnown() {
		reads = workload.WholeKeys(workload.ValueKeysFor(reads))
	}
	if isKnown() {
		return reads
	}
	// Append to a new list, because other goroutines may iterate over the old one.
	updated := append(slices.Clip(recorded), reads)
	c.read.Put(string(common), updated, bounded.Footprint(updated))
	return reads
}

// Adopt moves all entries of another Cache into this Cache. They replace entries with the same key. The other
// Cache must not be used afterwards.
func (c *Cache) Adopt(source *Cache) {
	for key, lists := range source.read.All() {
		for _, reads := range lists {
			c.noteRead([]byte(key), reads)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rendered.Adopt(source.rendered)
	c.executions.Adopt(source.executions)
	c.reports.Adopt(source.reports)
	c.merged.Adopt(source.merged)
}

// grow adds a number of bytes to the size of a cached rendering.
func (c *Cache) grow(rendered *Rendered, bytes int) {
	total := rendered.bytes.Add(int64(bytes))
	if c == nil || rendered.key == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rendered.Put(rendered.key, rendered, int(total))
}

func getCached[V any](c *Cache, store *bounded.Store[V], key []byte) V {
	c.mu.Lock()
	defer c.mu.Unlock()
	return store.Get(key)
}

func putCached[V any](c *Cache, store *bounded.Store[V], key []byte, fresh V, bytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	store.Put(string(key), fresh, bytes)
}
