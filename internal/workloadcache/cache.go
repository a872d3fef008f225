// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package workloadcache caches workloads. It turns the workloads of an informer into records with the View of a
// workload, and stores them in an index by namespace, label and field manager. It does not define the content of a View.
package workloadcache

import (
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Cache makes the records of workloads, and finds the records that a VectorSidecar needs without a scan. Use
// New to make one.
type Cache struct {
	kinds      []*workload.Kind
	ownerships *ownerships
	// pods contains the views of pod templates by their content.
	pods *interned[digest, workload.PodView]
	// hasShapes reports whether records include the shape of their pods.
	hasShapes bool

	mu      sync.Mutex
	indexes map[namespaceKey]*namespaceIndex
	// pendingVersions contains the resource versions of workloads that were read live and have not arrived by the watch
	// yet.
	pendingVersions map[types.UID]string
	// runners contains the workloads that run the pods of another workload, by the other workload and by name.
	runners map[reference]bucket
	// missingKinds contains the kinds without an API in the cluster.
	missingKinds map[string]bool
	// isSynced reports whether all workloads are in the cache.
	isSynced bool
}

// New returns a Cache of workloads of the given kinds, or of all kinds by default.
func New(kinds ...*workload.Kind) *Cache {
	if len(kinds) == 0 {
		kinds = workload.Kinds()
	}
	return &Cache{
		kinds: kinds, ownerships: newOwnerships(), pods: newInterned[digest, workload.PodView](), indexes: map[namespaceKey]*namespaceIndex{}, pendingVersions: map[types.UID]string{},
		missingKinds: map[string]bool{}, runners: map[reference]bucket{},
	}
}

// KeepShapes makes records include the Shape of their pods. It must be called before the first workload is
// added.
func (c *Cache) KeepShapes() { c.hasShapes = true }

// Kinds returns the kinds of the workloads in the cache, including kinds without an API in the cluster.
func (c *Cache) Kinds() []*workload.Kind { return c.kinds }

// HasKind reports whether the cluster is known to have the API of a kind. The cache assumes so until RemoveKind is
// called.
func (c *Cache) HasKind(kind *workload.Kind) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.missingKinds[kind.Kind]
}

// AddKind records that the cluster has the API of a kind.
func (c *Cache) AddKind(kind *workload.Kind) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.missingKinds, kind.Kind)
}

// RemoveKind records that the cluster lacks the API of a kind. It removes and returns the workloads of that kind,
// because they were deleted with the API. It also returns the changed workloads, as Put does.
func (c *Cache) RemoveKind(kind *workload.Kind) (lost, changed []*Record) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.missingKinds[kind.Kind] = true
	for key, index := range c.indexes {
		if key.kind != kind.Kind {
			continue
		}
		lost = index.records.appendTo(lost)
		delete(c.indexes, key)
	}
	for _, record := range lost {
		delete(c.pendingVersions, record.UID)
		if record.reference != nil {
			changed = append(changed, c.updateReference(record, nil)...)
		}
	}
	return lost, changed
}

// Put stores a new or changed workload. It ignores versions older than a live read. It returns the workloads
// that get another Runner, as they were before and after.
func (c *Cache) Put(record *Record) []*Record {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.missingKinds[record.Kind] {
		return nil // The watch event is late.
	}
	if version, isAhead := c.pendingVersions[record.UID]; isAhead && IsOlder(record.ResourceVersion(), version) {
		return nil
	}
	delete(c.pendingVersions, record.UID)
	return c.add(record)
}

// PutLive stores a workload that was read live while the watch is behind. It reports whether the cache changed.
func (c *Cache) PutLive(live workload.Object, now time.Time) bool {
	record := c.Reduce(live)
	c.mu.Lock()
	defer c.mu.Unlock()
	index := c.indexes[newNamespaceKey(record)]
	if index == nil {
		return false // The workload was deleted since.
	}
	previous := index.records[record.Name]
	if previous == nil || previous.UID != record.UID || !IsOlder(previous.ResourceVersion(), record.ResourceVersion()) {
		return false
	}
	record.CarryOver(previous, now)
	c.pendingVersions[record.UID] = record.ResourceVersion()
	c.add(record)
	return true
}

// add stores a record, with its runner if it has one. It returns the workloads that get another runner, as they were
// before and after. The caller must hold mu.
func (c *Cache) add(record *Record) []*Record {
	key := newNamespaceKey(record)
	if c.indexes[key] == nil {
		c.indexes[key] = newNamespaceIndex()
	}
	previous := c.indexes[key].records[record.Name]
	if len(c.runners) > 0 {
		record = record.RunBy(c.findRunner(reference{key.kind, types.NamespacedName{Namespace: key.namespace, Name: record.Name}}))
	}
	c.indexes[key].add(record)
	if record.reference == nil && (previous == nil || previous.reference == nil) {
		return nil
	}
	return c.updateReference(previous, record)
}

// Delete removes a deleted workload. It returns the same workloads as Put.
func (c *Cache) Delete(record *Record) []*Record {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.pendingVersions, record.UID)
	key := newNamespaceKey(record)
	index := c.indexes[key]
	if index == nil {
		return nil
	}
	previous := index.records[record.Name]
	if index.remove(record.Name); len(index.records) == 0 {
		delete(c.indexes, key)
	}
	if previous == nil || previous.reference == nil {
		return nil
	}
	return c.updateReference(previous, nil)
}

// ListByLabels returns the workloads of a namespace that have one of the labels, each in the form that LabelKey
// returns. It returns all workloads for AnyLabels.
func (c *Cache) ListByLabels(namespace string, labels []string) (records []*Record) {
	for _, label := range labels {
		records = append(records, c.listSelected(namespace, func(_ string, index *namespaceIndex) bucket { return index.listByLabel(label) })...)
	}
	return records
}

// ListByManager returns the workloads of a namespace with fields of a manager.
func (c *Cache) ListByManager(namespace, manager string) []*Record {
	return c.listSelected(namespace, func(_ string, index *namespaceIndex) bucket { return index.byManager[manager] })
}

// ListTraced returns the workloads of all namespaces with a trace of one of the operator's field managers.
func (c *Cache) ListTraced() []*Record {
	return slices.DeleteFunc(c.List(""), func(record *Record) bool { return len(record.Traces()) == 0 })
}

// ListOnEveryNode returns the workloads of all namespaces with a kind that runs on every node.
func (c *Cache) ListOnEveryNode() []*Record {
	return c.listSelected("", func(kind string, index *namespaceIndex) bucket {
		if workload.KindByName(kind).Traits.OnEveryNode {
			return index.records
		}
		return nil
	})
}

// List returns the workloads of a namespace, or of all namespaces for "".
func (c *Cache) List(namespace string) []*Record {
	return c.listSelected(namespace, func(_ string, index *namespaceIndex) bucket { return index.records })
}

// listSelected returns the workloads that a function selects from the index of each kind, in a namespace or in all
// namespaces for "".
func (c *Cache) listSelected(namespace string, selected func(kind string, index *namespaceIndex) bucket) (records []*Record) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if namespace == "" {
		for key, index := range c.indexes {
			records = selected(key.kind, index).appendTo(records)
		}
		return records
	}
	for _, kind := range c.kinds {
		if index := c.indexes[namespaceKey{kind.Kind, namespace}]; index != nil {
			records = selected(kind.Kind, index).appendTo(records)
		}
	}
	return records
}

// Get returns the workload with a name, or nil if there is none.
func (c *Cache) Get(kind, namespace, name string) *Record {
	c.mu.Lock()
	defer c.mu.Unlock()
	if index := c.indexes[namespaceKey{kind, namespace}]; index != nil {
		return index.records[name]
	}
	return nil
}

// SetSynced records that all workloads are in the cache.
func (c *Cache) SetSynced() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.isSynced = true
}

// IsSynced reports whether all workloads are in the cache.
func (c *Cache) IsSynced() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.isSynced
}

// IsOlder reports whether a resource version is known to be older than another.
func IsOlder(version, other string) bool {
	order, err := resourceversion.CompareResourceVersion(version, other)
	return err == nil && order < 0
}
