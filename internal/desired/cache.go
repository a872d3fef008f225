// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"slices"
	"sync"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// maxCacheBytes is the maximum size of a Cache, which fits into the memory limit of the chart's container. A rendering
// uses about twenty kilobytes, and at most a megabyte.
const maxCacheBytes = 32 << 20

// Cache caches renderings and checks by all of their inputs, so that a reconcile without changes renders nothing. The
// cache does not affect results, and its size is limited. It is safe for concurrent use. A nil Cache does not cache
// anything.
//
// A request is all input except the workload; its key contains the digests of the chart and of the values. The cache
// contains:
//
//   - by request: the lists of workload fields that its templates have read (see findCached)
//   - by request and the values of these fields: a *Rendered, which is for one namespace, or an *execution, which all
//     namespaces share
//   - by the key of such an entry and a name: a *plan.Desired, or a *Rendered for a short grace period
//   - by digest: the ConfigMaps of renderings, and the reports of configuration checks
//   - by spec: the merged values of ClusterVectorSidecars
type Cache struct {
	mu      sync.Mutex
	entries *bounded.Store[any]
}

// NewCache returns an empty Cache.
func NewCache() *Cache { return &Cache{entries: bounded.NewStore[any](maxCacheBytes)} }

// getCached returns the cached value of a key, or the zero value if none is cached.
func getCached[V any](c *Cache, key []byte) (value V) {
	if c == nil {
		return value
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	value, _ = c.entries.Get(key).(V)
	return value
}

// put caches a value. bytes is its size without the cached values that it shares, and uses are the keys of these.
func (c *Cache) put(key string, value any, bytes int, uses ...string) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries.Put(key, value, bytes, uses...)
}

// findCached returns the cached result of a request for a workload, or nil if none is cached. Workloads that are equal
// in the fields that the templates have read share a result. Most workloads have the same list of fields, so the first
// lookup usually succeeds.
func findCached[V any](c *Cache, request []byte, target *workload.View) *V {
	var buffer [1024]byte // Most keys fit, so they need no allocation.
	for _, reads := range getCached[[][]tree.Read](c, request) {
		if cached := getCached[*V](c, appendKey(buffer[:0], request, target, reads)); cached != nil {
			return cached
		}
	}
	return nil
}

// appendKey appends the cache key of a request's result for a workload. The key contains the values of the workload's
// fields in reads.
func appendKey(text, request []byte, target *workload.View, reads []tree.Read) []byte {
	return target.AppendReads(append(append(text, request...), '/'), reads)
}

// maxReadLists is the maximum number of different lists of read fields for one request, because each list costs a
// lookup for every workload. If templates look up a label by the name of the workload, each workload has a different
// list.
const maxReadLists = 16

// keyFor returns the cache key of a request's result for a workload. It also records the fields that the templates have
// read, so that findCached returns the result.
func (c *Cache) keyFor(request []byte, target *workload.View, reads []tree.Read) string {
	return string(appendKey(nil, request, target, c.recordReads(request, reads)))
}

// recordReads records the fields that the templates have read for a request, and returns the fields for the cache key.
// If the request already has maxReadLists other lists, it returns the top-level keys of the fields instead.
func (c *Cache) recordReads(request []byte, reads []tree.Read) []tree.Read {
	c.mu.Lock()
	defer c.mu.Unlock()
	recorded, _ := c.entries.Get(request).([][]tree.Read)
	isRecorded := func() bool {
		return slices.ContainsFunc(recorded, func(entry []tree.Read) bool { return slices.EqualFunc(entry, reads, tree.Read.Equal) })
	}
	if len(recorded) >= maxReadLists && !isRecorded() {
		reads = workload.WholeKeys(workload.ValueKeysFor(reads))
	}
	if isRecorded() {
		return reads
	}
	// Append to a new list, because other goroutines may iterate over the old one.
	updated := append(slices.Clip(recorded), reads)
	c.entries.Put(string(request), updated, bounded.Footprint(updated))
	return reads
}

// sharedValues are cached values that several renderings use. The cache counts their memory only once, in their own
// entries.
type sharedValues struct {
	keys   []string
	values []any
	// bytes is the size of the values that were not cached before.
	bytes int
}

// add adds a cached value. newBytes is its size, or 0 if it was already cached.
func (s *sharedValues) add(key string, value any, newBytes int) {
	s.keys, s.values, s.bytes = append(s.keys, key), append(s.values, value), s.bytes+newBytes
}

// derive returns the desired sidecar that create derives from a cached value with the key source. It caches the result
// by source and name, and adds it to the shared values. objects are the parts of the result that belong to the cached
// value, so that their memory is not counted again. If source is "", derive does not cache the result.
func (c *Cache) derive(source, name string, create func() *plan.Desired, shared *sharedValues, objects ...any) *plan.Desired {
	if source == "" {
		return create()
	}
	key, bytes := source+name, 0
	desired := getCached[*plan.Desired](c, []byte(key))
	if desired == nil {
		desired = create()
		bytes = bounded.Footprint(desired, objects...)
		c.put(key, desired, bytes, source)
	}
	shared.add(key, desired, bytes)
	return desired
}

// Adopt moves all entries of another Cache into this Cache, and replaces entries with the same key. The other Cache
// must not be used afterwards.
func (c *Cache) Adopt(source *Cache) {
	for entry := range source.entries.All() {
		lists, isReads := entry.Value.([][]tree.Read)
		for _, reads := range lists {
			c.recordReads([]byte(entry.Key), reads)
		}
		if !isReads {
			c.put(entry.Key, entry.Value, entry.Bytes, entry.Uses...)
		}
	}
}
