// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"sync"
	"sync/atomic"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Fleet makes the records of workloads, and finds them by what VectorSidecars ask for,
// without looking at the others. Make one with NewFleet.
type Fleet struct {
	reducer *workload.Reducer

	mu     sync.Mutex
	places map[string]*place
	// ahead are the versions of workloads that were read live, which the watch has
	// not come to yet.
	ahead map[types.UID]string
	// filled tells that every workload is there.
	filled atomic.Bool
}

// place is the workloads of one namespace.
type place struct {
	all       shelf
	byManager map[string]shelf
	// byLabel has the labels that somebody has asked for.
	byLabel map[string]shelf
}

// shelf is some workloads, by name.
type shelf map[string]*workload.Record

// NewFleet returns a Fleet.
func NewFleet() *Fleet {
	f := &Fleet{reducer: workload.NewReducer(), places: map[string]*place{}, ahead: map[types.UID]string{}}
	f.reducer.Before = f.get
	return f
}

// Reduce has a cache hold the record of a Deployment in place of it.
func (f *Fleet) Reduce(object any) (any, error) {
	if deployment, ok := object.(*appsv1.Deployment); ok {
		return f.reducer.Reduce(deployment), nil
	}
	return object, nil
}

// put notes a workload, new or changed. What it was before it was read live is no news.
func (f *Fleet) put(record *workload.Record) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if version, isAhead := f.ahead[record.UID]; isAhead && isBefore(record.ResourceVersion, version) {
		return
	}
	delete(f.ahead, record.UID)
	f.shelve(record)
}

// overtake notes a workload as it was read live while the watch is behind. It reports
// whether that is news.
func (f *Fleet) overtake(live *appsv1.Deployment, now time.Time) bool {
	record := f.reducer.Reduce(live)
	f.mu.Lock()
	defer f.mu.Unlock()
	at := f.places[record.Namespace]
	if at == nil {
		return false // It has been deleted meanwhile.
	}
	before := at.all[record.Name]
	if before == nil || before.UID != record.UID || !isBefore(before.ResourceVersion, record.ResourceVersion) {
		return false
	}
	record.Follow(before, now)
	f.ahead[record.UID] = record.ResourceVersion
	f.shelve(record)
	return true
}

func (f *Fleet) shelve(record *workload.Record) {
	at := f.places[record.Namespace]
	if at == nil {
		at = &place{all: shelf{}, byManager: map[string]shelf{}, byLabel: map[string]shelf{}}
		f.places[record.Namespace] = at
	}
	at.drop(record.Name)
	at.all[record.Name] = record
	for _, manager := range record.Managers() {
		add(at.byManager, manager, record)
	}
	for label, value := range record.Labels().All() {
		if shelf, wanted := at.byLabel[pair(label, value)]; wanted {
			shelf[record.Name] = record
		}
	}
}

// remove forgets a workload that is gone.
func (f *Fleet) remove(record *workload.Record) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.ahead, record.UID)
	if at := f.places[record.Namespace]; at != nil {
		if at.drop(record.Name); len(at.all) == 0 {
			delete(f.places, record.Namespace)
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
		delete(p.byLabel[pair(label, value)], name)
	}
}

func add(shelves map[string]shelf, key string, record *workload.Record) {
	if shelves[key] == nil {
		shelves[key] = shelf{}
	}
	shelves[key][record.Name] = record
}

// candidates are the workloads of a namespace that have one of the labels, each
// written as by pair, or all of them for anyLabels.
func (f *Fleet) candidates(namespace string, labels []string) []*workload.Record {
	f.mu.Lock()
	defer f.mu.Unlock()
	at := f.places[namespace]
	if at == nil {
		return nil
	}
	var found []*workload.Record
	for _, label := range labels {
		found = at.labelled(label).appendTo(found)
	}
	return found
}

// labelled are the workloads with a label; from the first time that it is asked
// for, they are kept in an index.
func (p *place) labelled(label string) shelf {
	if label == anyLabels {
		return p.all
	}
	if known, asked := p.byLabel[label]; asked {
		return known
	}
	p.byLabel[label] = shelf{}
	for _, record := range p.all {
		for key, value := range record.Labels().All() {
			if pair(key, value) == label {
				p.byLabel[label][record.Name] = record
			}
		}
	}
	return p.byLabel[label]
}

// carriers are the workloads of a namespace that carry something of a manager's.
func (f *Fleet) carriers(namespace, manager string) []*workload.Record {
	f.mu.Lock()
	defer f.mu.Unlock()
	if at := f.places[namespace]; at != nil {
		return at.byManager[manager].appendTo(nil)
	}
	return nil
}

// traced are the workloads of all namespaces in which something tells of one of the
// operator's field managers.
func (f *Fleet) traced() []*workload.Record {
	f.mu.Lock()
	defer f.mu.Unlock()
	var found []*workload.Record
	for _, at := range f.places {
		for _, record := range at.all {
			if len(record.Traces()) > 0 {
				found = append(found, record)
			}
		}
	}
	return found
}

// of are the workloads of a namespace, or all of them ("").
func (f *Fleet) of(namespace string) []*workload.Record {
	f.mu.Lock()
	defer f.mu.Unlock()
	var found []*workload.Record
	for name, at := range f.places {
		if namespace == "" || namespace == name {
			found = at.all.appendTo(found)
		}
	}
	return found
}

// get returns a workload, nil if there is none of that name.
func (f *Fleet) get(namespace, name string) *workload.Record {
	f.mu.Lock()
	defer f.mu.Unlock()
	if at := f.places[namespace]; at != nil {
		return at.all[name]
	}
	return nil
}

func (s shelf) appendTo(records []*workload.Record) []*workload.Record {
	for _, record := range s {
		records = append(records, record)
	}
	return records
}

// pair writes a label as a key of an index.
func pair(key, value string) string { return key + "=" + value }
