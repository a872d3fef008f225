// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workloadcache

// LabelKey returns a label as a key of the index.
func LabelKey(key, value string) string { return key + "=" + value }

// AnyLabels is the key of all workloads.
const AnyLabels = "*"

// namespaceKey identifies the index of a kind's workloads in a namespace.
type namespaceKey struct{ kind, namespace string }

func newNamespaceKey(record *Record) namespaceKey {
	return namespaceKey{record.Kind, record.Namespace}
}

// namespaceIndex contains the workloads of one kind in one namespace.
type namespaceIndex struct {
	records   bucket
	byManager map[string]bucket
	// byLabel contains an entry for each label of an earlier lookup.
	byLabel map[string]bucket
}

// bucket is a set of workloads by name.
type bucket map[string]*Record

func newNamespaceIndex() *namespaceIndex {
	return &namespaceIndex{records: bucket{}, byManager: map[string]bucket{}, byLabel: map[string]bucket{}}
}

// add adds a workload and replaces an earlier workload of its name.
func (x *namespaceIndex) add(record *Record) {
	x.remove(record.Name)
	x.records[record.Name] = record
	for _, manager := range record.Managers() {
		if x.byManager[manager] == nil {
			x.byManager[manager] = bucket{}
		}
		x.byManager[manager][record.Name] = record
	}
	for label, value := range record.Labels() {
		if records, ok := x.byLabel[LabelKey(label, value)]; ok {
			records[record.Name] = record
		}
	}
}

// remove removes the workload with a name, if it exists.
func (x *namespaceIndex) remove(name string) {
	previous := x.records[name]
	if previous == nil {
		return
	}
	delete(x.records, name)
	for _, manager := range previous.Managers() {
		if delete(x.byManager[manager], name); len(x.byManager[manager]) == 0 {
			delete(x.byManager, manager)
		}
	}
	for label, value := range previous.Labels() {
		delete(x.byLabel[LabelKey(label, value)], name)
	}
}

// listByLabel returns the workloads with a label, which is indexed from the first call on.
func (x *namespaceIndex) listByLabel(label string) bucket {
	if label == AnyLabels {
		return x.records
	}
	if records, ok := x.byLabel[label]; ok {
		return records
	}
	matches := bucket{}
	for _, record := range x.records {
		for key, value := range record.Labels() {
			if LabelKey(key, value) == label {
				matches[record.Name] = record
			}
		}
	}
	x.byLabel[label] = matches
	return matches
}

// appendTo appends the workloads of the set to a list, in any order.
func (b bucket) appendTo(records []*Record) []*Record {
	for _, record := range b {
		records = append(records, record)
	}
	return records
}
