// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"slices"
	"sync"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
	"kontroloop.ai/vector-sidecar-operator/internal/vectorconfig"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// What a Cache may take, in bytes: renderings, of which each is some ten kilobytes and may be
// a megabyte, and what is told of configurations. It is for a container with the memory
// that the chart gives it.
const (
	mostRendered = 24 << 20
	mostRead     = 1 << 20
	mostReported = 8 << 20
)

// Cache remembers renderings and checks by everything that they depend on, so that
// a pass in which nothing changed renders nothing. It changes no result, and is bounded
// in bytes. It may be used by several goroutines at once; a nil Cache remembers nothing.
type Cache struct {
	mu       sync.Mutex
	rendered *bounded.Store[*Rendered]
	// read has for each request what its renderings read of their targets: most
	// often the same of all, so that one look finds a result.
	read    *bounded.Store[[][]tree.Read]
	reports *bounded.Store[*vectorconfig.Report]
}

// NewCache returns an empty Cache.
func NewCache() *Cache {
	return &Cache{
		rendered: bounded.NewStore[*Rendered](mostRendered), read: bounded.NewStore[[][]tree.Read](mostRead),
		reports: bounded.NewStore[*vectorconfig.Report](mostReported),
	}
}

// readBy is what renderings of a request have read.
func (c *Cache) readBy(common []byte) [][]tree.Read { return remembered(c, c.read, common) }

// mostReads is how many kinds of what is read of a target are told apart for one request:
// each is a look for every workload. Templates that look up a label by the name of the
// workload would have as many as there are workloads.
const mostReads = 16

// noteRead notes what a rendering of a request has read, and returns by what of that it is
// to be remembered: when there are many kinds, by the keys of the target as a whole.
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
	// A new list: others may be going through the old one.
	now := append(slices.Clip(before), reads)
	c.read.Put(string(common), now, bounded.Footprint(now))
	return reads
}

// Adopt remembers all that another Cache does, in place of what is remembered of the same.
// The other one must not be used any more.
func (c *Cache) Adopt(other *Cache) {
	for key, lists := range other.read.All() {
		for _, reads := range lists {
			c.noteRead([]byte(key), reads)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rendered.Adopt(other.rendered)
	c.reports.Adopt(other.reports)
}

// grow remembers a rendering that takes so many bytes more than it did.
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
