// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workloadcache

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Record is a workload as it is kept: what finds it, and all that its View shows. Make
// one with a reducer, which packs the View into as few bytes as that takes, or with
// RecordOf. It must not be changed.
type Record struct {
	// Namespace and Name find the workload; UID is not that of an earlier one.
	Namespace, Name string
	UID             types.UID
	workload.State

	deleting, paused bool
	// overrides tells that the workload's annotations give values.
	overrides bool
	// print is that of what the body was made of.
	print fingerprint
	body  *body
}

// body is what a change of the status leaves as it was, without the workload's name.
// Workloads that have equal bodies have the same one.
type body struct {
	// kind is the workload's.
	kind       string
	labels     []label
	lastWriter string
	owned      *ownership
	// packed is the rest of what a View is made of: an Outline's template in protobuf,
	// with nothing in it that does not show, so that equal bytes are equal Views.
	packed []byte
	// shown is what Showing was given; nil for what is packed.
	shown *workload.View
}

// RecordOf returns a record of a workload that holds its View as it is: for those who
// keep few of them.
func RecordOf(object workload.Object) *Record { return Showing(workload.Of(object)) }

// Showing returns a record that holds a View as it is.
func Showing(view workload.View) *Record {
	return &Record{
		Namespace: view.Namespace, Name: view.Name, UID: view.UID, State: view.State,
		deleting: view.Deleting, paused: view.Paused, overrides: len(view.Overrides) > 0,
		body: &body{
			kind: view.Kind, labels: labelsOf(view.Name, view.Labels), lastWriter: view.LastWriter, shown: &view,
			owned: &ownership{managers: slices.Sorted(maps.Keys(view.Owned)), byManager: view.Owned},
		},
	}
}

// View returns what planning sees of the workload: the same as Of the whole one. What
// it refers to must not be changed. A packed one takes some microseconds.
func (r *Record) View() workload.View {
	if r.body.shown != nil {
		return *r.body.shown
	}
	var packed corev1.PodTemplate
	if err := packed.Unmarshal(r.body.packed); err != nil {
		panic(fmt.Sprintf("unpacking what was packed here: %v", err))
	}
	eachName(&packed, func(text string) string { return withName(text, r.Name) })
	outline := workload.Unpacked(r.Ref(), maps.Collect(r.Labels().All()), &packed)
	outline.Paused, outline.Deleting = r.paused, r.deleting
	view := outline.View(r.body.owned.byManager, r.body.lastWriter)
	view.State = r.State
	return view
}

// Ref names the workload.
func (r *Record) Ref() workload.Ref {
	return workload.Ref{Kind: r.body.kind, Namespace: r.Namespace, Name: r.Name, UID: r.UID}
}

// GetObjectMeta has the cache know the workload and its version.
func (r *Record) GetObjectMeta() metav1.Object {
	return &metav1.ObjectMeta{
		Namespace: r.Namespace, Name: r.Name, UID: r.UID, ResourceVersion: r.ResourceVersion, Generation: r.Generation,
	}
}

// Labels are those of the workload itself. They must not be changed.
func (r *Record) Labels() *Labels { return (*Labels)(r) }

// Managers are the operator's field managers that have something in the workload.
func (r *Record) Managers() []string { return r.body.owned.managers }

// Traces are those of TracesOf.
func (r *Record) Traces() []workload.Trace { return r.body.owned.traces }

// IsDeleting is the View's Deleting.
func (r *Record) IsDeleting() bool { return r.deleting }

// LastWriter is the View's.
func (r *Record) LastWriter() string { return r.body.lastWriter }

// HasOverrides tells whether the View has Overrides.
func (r *Record) HasOverrides() bool { return r.overrides }

// IsAs tells, in a few nanoseconds, whether another record of the same Cache has the
// same View but for its State.
func (r *Record) IsAs(other *Record) bool {
	return r.UID == other.UID && r.deleting == other.deleting && r.paused == other.paused && r.body == other.body
}

// LooksLike tells whether planning sees the same in another record, versions apart.
func (r *Record) LooksLike(other *Record) bool {
	return r.Rollout == other.Rollout && r.Refusal == other.Refusal && r.IsAs(other)
}

// Follow notes that the record comes, now, after another of the same workload: since when
// it has looked as it does. It is called before anybody else has the record.
func (r *Record) Follow(before *Record, now time.Time) {
	if r.LooksLike(before) {
		r.Seen = before.Seen
	}
	r.State.Follow(&before.State, r.IsAs(before), now)
}

// Labels are those of a Record's workload. A labels.Selector can match them.
type Labels Record

// All are the keys with their values.
func (l *Labels) All() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for _, of := range l.body.labels {
			if !yield(of.key, withName(of.value, l.Name)) {
				return
			}
		}
	}
}

// Keys are the labels as keys of the index.
func (l *Labels) Keys() []string {
	var keys []string
	for key, value := range l.All() {
		keys = append(keys, Pair(key, value))
	}
	return keys
}

// Lookup returns the value of a key, and whether there is one.
func (l *Labels) Lookup(key string) (string, bool) {
	all := l.body.labels
	at, found := slices.BinarySearchFunc(all, key, func(of label, key string) int { return cmp.Compare(of.key, key) })
	if !found {
		return "", false
	}
	return withName(all[at].value, l.Name), true
}

// Has tells whether there is a key.
func (l *Labels) Has(key string) bool {
	_, found := l.Lookup(key)
	return found
}

// Get returns the value of a key, empty if there is none.
func (l *Labels) Get(key string) string {
	value, _ := l.Lookup(key)
	return value
}
