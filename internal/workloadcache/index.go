// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workloadcache

// namespaceKey identifies the index of a kind's workloads in a namespace.
type namespaceKey struct{ kind, namespace string }

func keyOf(record *Record) namespaceKey { return namespaceKey{record.body.kind, record.Namespace} }

// namespaceIndex contains the workloads of one kind in one namespace.
type namespaceIndex struct {
	all       bucket
	byManager map[string]bucket
	// byLabel contains an entry for each label of an earlier lookup.
	byLabel map[string]bucket
}

// bucket is a set of workloads by name.
type bucket map[string]*Record

func newNamespaceIndex() *namespaceIndex {
	return &namespaceIndex{all: bucket{}, byManager: map[string]bucket{}, byLabel: map[string]bucket{}}
}

// add adds a workload and replaces an earlier workload of its name.
func (x *namespaceIndex) add(record *Record) {
	x.remove(record.Name)
	x.all[record.Name] = record
	for _, manager := range record.Managers() {
		if x.byManager[manager] == nil {
			x.byManager[manager] = bucket{}
		}
		x.byManager[manager][record.Name] = record
	}
	for label, value := range record.Labels().All() {
		if known, asked := x.byLabel[Pair(label, value)]; asked {
			known[record.Name] = record
		}
	}
}

func (x *namespaceIndex) remove(name string) {
	before := x.all[name]
	if before == nil {
		return
	}
	delete(x.all, name)
	for _, manager := range before.Managers() {
		if delete(x.byManager[manager], name); len(x.byManager[manager]) == 0 {
			delete(x.byManager, manager)
		}
	}
	for label, value := range before.Labels().All() {
		delete(x.byLabel[Pair(label, value)], name)
	}
}

// labelled returns the workloads with a label, which is indexed from the first call on.
func (x *namespaceIndex) labelled(label string) bucket {
	if label == AnyLabels {
		return x.all
	}
	if known, asked := x.byLabel[label]; asked {
		return known
	}
	found := bucket{}
	for _, record := range x.all {
		for key, value := range record.Labels().All() {
			if Pair(key, value) == label {
				found[record.Name] = record
			}
		}
	}
	x.byLabel[label] = found
	return found
}

func (b bucket) appendTo(records []*Record) []*Record {
	for _, record := range b {
		records = append(records, record)
	}
	return records
}
