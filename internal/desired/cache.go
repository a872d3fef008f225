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

// maxCacheBytes is the limit of a Cache in bytes, for a container with the chart's memory limit. A rendering uses
// about twenty kilobytes, and up to a megabyte.
const maxCacheBytes = 32 << 20

// Cache caches renderings and checks by all of their inputs, so that a reconcile without changes does not
// render anything. It does not affect results, and its size is limited in bytes. It is safe for concurrent use.
// A nil Cache does not cache anything.
//
// A request is all input except the workload. Its key has the digest of the chart and of the values. The cache contains:
//
//   - by request: the lists of workload fields that its templates have read (see findCached)
//   - by request and the fields that the templates have read: a *Rendered, which is the result for a namespace, or an
//     *execution, which all namespaces share
//   - by the key of one of these and a name: a *plan.Desired, or a *Rendered for a short grace period
//   - by digest: the ConfigMaps of renderings, and the reports of configuration checks
//   - by spec: the merged values of ClusterVectorSidecars
type Cache struct {
	mu      sync.Mutex
	entries *bounded.Store[any]
}

// NewCache returns an empty Cache.
func NewCache() *Cache { return &Cache{entries: bounded.NewStore[any](maxCacheBytes)} }

// getCached returns the cached value of a key, or the zero value.
func getCached[V any](c *Cache, key []byte) (value V) {
	if c == nil {
		return value
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	value, _ = c.entries.Get(key).(V)
	return value
}

// put caches a value of a size in bytes, without the cached values that it uses.
func (c *Cache) put(key string, value any, bytes int, uses ...string) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries.Put(key, value, bytes, uses...)
}

// find returns the cached result of a request for a workload, or nil for none. Workloads that are equal in the fields
// that the templates have read share a result. Most workloads have the same list of fields, so one lookup usually
// finds it.
func findCached[V any](c *Cache, request []byte, target *workload.View) *V {
	var buffer [1024]byte // Mostly enough, without an allocation.
	for _, reads := range getCached[[][]tree.Read](c, request) {
		if cached := getCached[*V](c, appendKey(buffer[:0], request, target, reads)); cached != nil {
			return cached
		}
	}
	return nil
}

// appendKey appends the key of the result of a request for the fields of a workload that the templates have read.
func appendKey(text, request []byte, target *workload.View, reads []tree.Read) []byte {
	return target.AppendReads(append(append(text, request...), '/'), reads)
}

// maxReadLists is the maximum number of different lists of fields for one request, because each list costs a
// lookup for every workload. Templates that look up a label by the name of the workload would otherwise have
// one list for each workload.
const maxReadLists = 16

// keyFor returns the key of the result of a request for a workload. It records the fields that the templates have
// read, so that findCached returns the result.
func (c *Cache) keyFor(request []byte, target *workload.View, reads []tree.Read) string {
	return string(appendKey(nil, request, target, c.recordReads(request, reads)))
}

// recordReads records the fields that the templates have read for a request, and returns the fields for the key. If
// the request already has too many different lists, the result has the top-level keys of the fields instead.
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

// sharedValues are cached values that several renderings use. Their entries in the cache count their memory.
type sharedValues struct {
	keys   []string
	values []any
	// bytes is the size of the values that were not cached before.
	bytes int
}

func (s *sharedValues) add(key string, value any, newBytes int) {
	s.keys, s.values, s.bytes = append(s.keys, key), append(s.values, value), s.bytes+newBytes
}

// derive returns a desired state that create derives from a cached value. It caches the result by the key of that
// value and by a name, and adds it to the shared values. objects belong to the value, so they are not counted again.
// source is "" if the value is not cached.
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

// Adopt moves all entries of another Cache into this Cache. They replace entries with the same key. The other
// Cache must not be used afterwards.
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
