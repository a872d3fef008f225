// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package workloadcache keeps many workloads small: records, which hold what a View
// shows in as few bytes as that takes, and an index that finds them by namespace, label
// and field manager. What a View shows is not its job.
package workloadcache

import (
	"sync"
	"sync/atomic"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// Cache makes the records of workloads, and finds them by what VectorSidecars ask for,
// without looking at the others. Make one with New.
type Cache struct {
	reducer *reducer

	mu     sync.Mutex
	places map[string]*place
	// ahead are the versions of workloads that were read live, which the watch has
	// not come to yet.
	ahead map[types.UID]string
	// isSynced says that every workload is there.
	isSynced atomic.Bool
}

// place is the workloads of one namespace.
type place struct {
	all       shelf
	byManager map[string]shelf
	// byLabel has the labels that somebody has asked for.
	byLabel map[string]shelf
}

// shelf is some workloads, by name.
type shelf map[string]*Record

// New returns a Cache.
func New() *Cache {
	c := &Cache{reducer: newReducer(), places: map[string]*place{}, ahead: map[types.UID]string{}}
	c.reducer.before = c.Get
	return c
}

// Transform has a cache hold the record of a Deployment in place of it.
func (c *Cache) Transform(object any) (any, error) {
	if deployment, ok := object.(*appsv1.Deployment); ok {
		return c.Reduce(deployment), nil
	}
	return object, nil
}

// Reduce returns the record of a Deployment, which is not changed.
func (c *Cache) Reduce(deployment *appsv1.Deployment) *Record { return c.reducer.reduce(deployment) }

// Put notes a workload, new or changed. What it was before it was read live is no news.
func (c *Cache) Put(record *Record) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if version, isAhead := c.ahead[record.UID]; isAhead && IsOlder(record.ResourceVersion, version) {
		return
	}
	delete(c.ahead, record.UID)
	c.shelve(record)
}

// Overtake notes a workload as it was read live while the watch is behind. It reports
// whether that is news.
func (c *Cache) Overtake(live *appsv1.Deployment, now time.Time) bool {
	record := c.Reduce(live)
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.places[record.Namespace]
	if at == nil {
		return false // It has been deleted meanwhile.
	}
	before := at.all[record.Name]
	if before == nil || before.UID != record.UID || !IsOlder(before.ResourceVersion, record.ResourceVersion) {
		return false
	}
	record.Follow(before, now)
	c.ahead[record.UID] = record.ResourceVersion
	c.shelve(record)
	return true
}

func (c *Cache) shelve(record *Record) {
	at := c.places[record.Namespace]
	if at == nil {
		at = &place{all: shelf{}, byManager: map[string]shelf{}, byLabel: map[string]shelf{}}
		c.places[record.Namespace] = at
	}
	at.drop(record.Name)
	at.all[record.Name] = record
	for _, manager := range record.Managers() {
		add(at.byManager, manager, record)
	}
	for label, value := range record.Labels().All() {
		if shelf, wanted := at.byLabel[Pair(label, value)]; wanted {
			shelf[record.Name] = record
		}
	}
}

// Delete forgets a workload that is gone.
func (c *Cache) Delete(record *Record) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.ahead, record.UID)
	if at := c.places[record.Namespace]; at != nil {
		if at.drop(record.Name); len(at.all) == 0 {
			delete(c.places, record.Namespace)
		}
	}
}

func (p *place) drop(name string) {
	before := p.all[name]
	if before == nil {
		return
	}
	delete(p.all, name)
	for _, manager := range before.Managers() {
		if delete(p.byManager[manager], name); len(p.byManager[manager]) == 0 {
			delete(p.byManager, manager)
		}
	}
	for label, value := range before.Labels().All() {
		delete(p.byLabel[Pair(label, value)], name)
	}
}

func add(shelves map[string]shelf, key string, record *Record) {
	if shelves[key] == nil {
		shelves[key] = shelf{}
	}
	shelves[key][record.Name] = record
}

// WithLabels are the workloads of a namespace that have one of the labels, each
// written as by Pair, or all of them for AnyLabels.
func (c *Cache) WithLabels(namespace string, labels []string) []*Record {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.places[namespace]
	if at == nil {
		return nil
	}
	var found []*Record
	for _, label := range labels {
		found = at.labelled(label).appendTo(found)
	}
	return found
}

// labelled are the workloads with a label; from the first time that it is asked
// for, they are kept in an index.
func (p *place) labelled(label string) shelf {
	if label == AnyLabels {
		return p.all
	}
	if known, asked := p.byLabel[label]; asked {
		return known
	}
	p.byLabel[label] = shelf{}
	for _, record := range p.all {
		for key, value := range record.Labels().All() {
			if Pair(key, value) == label {
				p.byLabel[label][record.Name] = record
			}
		}
	}
	return p.byLabel[label]
}

// OfManager are the workloads of a namespace that carry something of a manager's.
func (c *Cache) OfManager(namespace, manager string) []*Record {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at := c.places[namespace]; at != nil {
		return at.byManager[manager].appendTo(nil)
	}
	return nil
}

// Traced are the workloads of all namespaces in which something tells of one of the
// operator's field managers.
func (c *Cache) Traced() []*Record {
	c.mu.Lock()
	defer c.mu.Unlock()
	var found []*Record
	for _, at := range c.places {
		for _, record := range at.all {
			if len(record.Traces()) > 0 {
				found = append(found, record)
			}
		}
	}
	return found
}

// SetSynced notes that every workload is there.
func (c *Cache) SetSynced() { c.isSynced.Store(true) }

// IsSynced reports whether every workload is there.
func (c *Cache) IsSynced() bool { return c.isSynced.Load() }

// In are the workloads of a namespace, or all of them ("").
func (c *Cache) In(namespace string) []*Record {
	c.mu.Lock()
	defer c.mu.Unlock()
	var found []*Record
	for name, at := range c.places {
		if namespace == "" || namespace == name {
			found = at.all.appendTo(found)
		}
	}
	return found
}

// Get returns a workload, nil if there is none of that name.
func (c *Cache) Get(namespace, name string) *Record {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at := c.places[namespace]; at != nil {
		return at.all[name]
	}
	return nil
}

func (s shelf) appendTo(records []*Record) []*Record {
	for _, record := range s {
		records = append(records, record)
	}
	return records
}

// IsOlder reports whether a resource version is known to be older than another.
func IsOlder(version, other string) bool {
	order, err := resourceversion.CompareResourceVersion(version, other)
	return err == nil && order < 0
}
