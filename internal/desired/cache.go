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

// Limits of a Cache in bytes, for a container with the chart's memory limit. A rendering
// is some ten kilobytes, and up to a megabyte; the other limits are for what namespaces share,
// and for results of configuration checks.
const (
	mostRendered = 20 << 20
	mostExecuted = 4 << 20
	mostRead     = 1 << 20
	mostMerged   = 1 << 20
	mostReported = 8 << 20
)

// Cache caches renderings and checks by everything that they depend on, so that a pass
// in which nothing changed renders nothing. It changes no result, and is bounded in
// bytes. It is safe for concurrent use; a nil Cache caches nothing.
type Cache struct {
	mu       sync.Mutex
	rendered *bounded.Store[*Rendered]
	// executions are what templates rendered that is the same in all namespaces.
	executions *bounded.Store[*execution]
	// read has, by request, what its renderings have read of their targets: mostly the
	// same for all, so that one lookup finds a result.
	read    *bounded.Store[[][]tree.Read]
	reports *bounded.Store[*vectorconfig.Report]
	// merged are the values of ClusterVectorSidecars.
	merged *bounded.Store[merged]
}

// NewCache returns an empty Cache.
func NewCache() *Cache {
	return &Cache{
		rendered: bounded.NewStore[*Rendered](mostRendered), executions: bounded.NewStore[*execution](mostExecuted),
		read:    bounded.NewStore[[][]tree.Read](mostRead),
		reports: bounded.NewStore[*vectorconfig.Report](mostReported),
		merged:  bounded.NewStore[merged](mostMerged),
	}
}

// readBy returns what renderings of a request have read.
func (c *Cache) readBy(common []byte) [][]tree.Read { return remembered(c, c.read, common) }

// mostReads bounds the different sets of reads per request, because each costs a lookup
// for every workload. Templates that look up a label by the name of the workload would
// have as many as there are workloads.
const mostReads = 16

// noteRead records what a rendering of a request has read, and returns the reads to
// cache it by: with too many different ones, the target's keys as a whole.
func (c *Cache) noteRead(common []byte, reads []tree.Read) []tree.Read {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.read.Get(common)
	isKnown := func() bool {
		return slices.ContainsFunc(before, func(known []tree.Read) bool { return slices.EqualFunc(known, reads, tree.Read.Equal) })
	}
	if len(before) >= mostReads && !isKnown() {
		reads = workload.WholeKeys(workload.KeysOf(reads))
	}
	if isKnown() {
		return reads
	}
	// A new list: others may be iterating over the old one.
	now := append(slices.Clip(before), reads)
	c.read.Put(string(common), now, bounded.Footprint(now))
	return reads
}

// Adopt takes over all entries of another Cache, replacing those with the same key. The
// other one must not be used any more.
func (c *Cache) Adopt(other *Cache) {
	for key, lists := range other.read.All() {
		for _, reads := range lists {
			c.noteRead([]byte(key), reads)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rendered.Adopt(other.rendered)
	c.executions.Adopt(other.executions)
	c.reports.Adopt(other.reports)
	c.merged.Adopt(other.merged)
}

// grow adds bytes to the size of a cached rendering.
func (c *Cache) grow(of *Rendered, bytes int) {
	total := of.bytes.Add(int64(bytes))
	if c == nil || of.key == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rendered.Put(of.key, of, int(total))
}

func remembered[V any](c *Cache, from *bounded.Store[V], key []byte) V {
	c.mu.Lock()
	defer c.mu.Unlock()
	return from.Get(key)
}

func remember[V any](c *Cache, in *bounded.Store[V], key []byte, fresh V, bytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	in.Put(string(key), fresh, bytes)
}
