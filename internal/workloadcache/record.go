// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workloadcache

import (
	"bytes"
	"cmp"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Record is a workload in the cache: its identity, and the content of its View. A reducer makes a Record with a
// packed View, and NewRecord with an unpacked View. A Record must not be changed.
type Record struct {
	// Namespace and Name identify the workload. UID distinguishes the workload from earlier workloads of the
	// same name.
	Namespace, Name string
	UID             types.UID
	state           state

	// reference is the other workload with the pods that this workload runs, or nil for none. run identifies
	// the workload that runs the pods of this workload, or is nil for its own controller.
	reference *workload.Reference
	run       *run

	// history is Content.History of the workload.
	history int32

	deleting, paused bool
	// overrides reports whether annotations of the workload set values.
	overrides bool
	// print is the fingerprint of the fields that the body was made from.
	print fingerprint
	body  *body
}

// run describes a workload with pods that another workload runs.
type run struct {
	// runner is the other workload. own is the record without the other workload.
	runner, base *Record
}

// body contains the fields that a status change does not affect, without the workload's name and namespace.
// Workloads with equal bodies share one.
type body struct {
	// kind is the kind of the workload.
	kind       string
	labels     []label
	lastWriter string
	owned      *ownership
	// template and details are the parts of a workload.Packed. The template is in protobuf, so that equal bytes
	// mean equal Views.
	template []byte
	details  workload.Details
	// shown is the argument of Showing. It is nil if the body is packed.
	shown *workload.View
}

// NewRecord returns a record with the unpacked View of a workload, for callers that keep only a few records.
func NewRecord(object workload.Object) *Record {
	content, _ := workload.Read(object)
	record := Showing(workload.NewView(object))
	record.reference, record.history = content.Refers, content.History
	return record
}

// Showing returns a record with an unchanged View.
func Showing(view workload.View) *Record {
	return &Record{
		Namespace: view.Namespace, Name: view.Name, UID: view.UID, state: packState(&view.State),
		deleting: view.Deleting, paused: view.Paused, overrides: len(view.Overrides) > 0,
		body: &body{
			kind: view.Kind, labels: newLabels(objectKey{view.Namespace, view.Name}, view.Labels), lastWriter: view.LastWriter, shown: &view,
			owned: &ownership{managers: managersIn(&view), byManager: view.Owned, marks: view.Marks},
		},
	}
}

// managersIn returns the operator's field managers that have fields or marks in a workload.
func managersIn(view *workload.View) []string {
	managers := slices.AppendSeq(slices.Collect(maps.Keys(view.Owned)), maps.Keys(view.Marks))
	slices.Sort(managers)
	return slices.Compact(managers)
}

// View returns the View of the workload, which equals the result of workload.NewView. Maps and slices in it must not
// be changed. Unpacking takes some microseconds.
func (r *Record) View() workload.View {
	if r.body.shown != nil {
		return *r.body.shown
	}
	packed := workload.Packed{Details: r.body.details}
	if err := packed.Template.Unmarshal(r.body.template); err != nil {
		panic(fmt.Sprintf("unpacking what was packed here: %v", err))
	}
	eachName(&packed, r.key().unmask)
	outline := workload.UnpackOutline(r.Ref(), maps.Collect(r.Labels().All()), &packed)
	outline.Paused, outline.Deleting = r.paused, r.deleting
	view := outline.View(r.body.owned.byManager, r.body.lastWriter)
	view.Marks, view.State = r.body.owned.marks, r.State()
	return view
}

// State returns the State of the View.
func (r *Record) State() workload.State { return r.state.unpack() }

// ResourceVersion returns the resource version of the workload.
func (r *Record) ResourceVersion() string { return r.state.version }

// Generation returns the generation of the workload.
func (r *Record) Generation() int64 { return r.state.generation }

// Rollout returns the state of the workload's rollout.
func (r *Record) Rollout() workload.Rollout { return r.state.rollout }

// StateSince returns the time since when the rollout has this state.
func (r *Record) StateSince() time.Time { return r.state.stateSince.time() }

// Kind returns the kind of the workload.
func (r *Record) Kind() string { return r.body.kind }

// Ref identifies the workload.
func (r *Record) Ref() workload.Ref {
	return workload.Ref{Kind: r.body.kind, Namespace: r.Namespace, Name: r.Name, UID: r.UID}
}

func (r *Record) key() objectKey { return objectKey{r.Namespace, r.Name} }

// GetObjectMeta returns the identity and version of the workload, for the cache of the informer.
func (r *Record) GetObjectMeta() metav1.Object {
	return &metav1.ObjectMeta{
		Namespace: r.Namespace, Name: r.Name, UID: r.UID, ResourceVersion: r.state.version, Generation: r.state.generation,
	}
}

// Labels returns the labels of the workload, without the labels of its pods. They must not be changed.
func (r *Record) Labels() *Labels { return (*Labels)(r) }

// Managers returns the operator's field managers that have fields or marks in the workload.
func (r *Record) Managers() []string { return r.body.owned.managers }

// Traces returns the same traces as workload.ListTraces.
func (r *Record) Traces() []workload.Trace { return r.body.owned.traces }

// IsDeleting returns Deleting of the View.
func (r *Record) IsDeleting() bool { return r.deleting }

// LastWriter returns LastWriter of the View.
func (r *Record) LastWriter() string { return r.body.lastWriter }

// HistoryLimit returns the revisionHistoryLimit of the workload, or a negative number for none.
func (r *Record) HistoryLimit() int32 { return r.history }

// HasOverrides reports whether the View has Overrides.
func (r *Record) HasOverrides() bool { return r.overrides }

// IsAs reports whether another record of the same Cache has the same View except for its State. It takes a few
// nanoseconds.
func (r *Record) IsAs(other *Record) bool {
	return r.UID == other.UID && r.deleting == other.deleting && r.paused == other.paused && r.body == other.body
}

// EquivalentTo reports whether another record looks the same to planning, except for versions.
func (r *Record) EquivalentTo(other *Record) bool {
	current, otherState := r.State(), other.State()
	return r.IsAs(other) && current.EquivalentTo(&otherState)
}

// CarryOver copies from the previous record of the same workload since when the workload has looked the same. It
// must be called before the record is shared.
func (r *Record) CarryOver(previous *Record, now time.Time) {
	if r.UID != previous.UID {
		return // The watch has missed the deletion of an earlier workload of that name.
	}
	previousState, currentState := previous.State(), r.State()
	if r.EquivalentTo(previous) {
		currentState.EquivalentVersion = previousState.EquivalentVersion
	}
	currentState.CarryOver(&previousState, r.HasSameTemplate(previous), now)
	r.state = packState(&currentState)
}

// HasSameTemplate reports whether another record of the same workload and Cache has the same pod template,
// including the sidecar. Labels, replicas and field managers may differ. A workload of the same generation has
// the same template.
func (r *Record) HasSameTemplate(other *Record) bool {
	if r.state.generation != 0 && r.state.generation == other.state.generation && r.UID == other.UID {
		return true
	}
	return r.state.template == other.state.template && (r.body == other.body ||
		bytes.Equal(r.body.template, other.body.template) && reflect.DeepEqual(r.body.details, other.body.details) && r.body.owned.hasSameTemplate(other.body.owned))
}

// Labels are the labels of a Record's workload, for matching by a labels.Selector.
type Labels Record

// All yields the keys and values.
func (l *Labels) All() iter.Seq2[string, string] {
	objKey := (*Record)(l).key()
	return func(yield func(string, string) bool) {
		for _, entry := range l.body.labels {
			if !yield(entry.key, objKey.unmask(entry.value)) {
				return
			}
		}
	}
}

// Keys returns the labels as keys of the index.
func (l *Labels) Keys() []string {
	var keys []string
	for key, value := range l.All() {
		keys = append(keys, Pair(key, value))
	}
	return keys
}

// Lookup returns the value of a key, and whether it exists.
func (l *Labels) Lookup(key string) (string, bool) {
	entries := l.body.labels
	i, ok := slices.BinarySearchFunc(entries, key, func(entry label, key string) int { return cmp.Compare(entry.key, key) })
	if !ok {
		return "", false
	}
	return (*Record)(l).key().unmask(entries[i].value), true
}

// Has reports whether a key exists.
func (l *Labels) Has(key string) bool {
	_, ok := l.Lookup(key)
	return ok
}

// Get returns the value of a key, "" if it does not exist.
func (l *Labels) Get(key string) string {
	value, _ := l.Lookup(key)
	return value
}
