// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workloadcache

import (
	"maps"
	"reflect"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Record is a workload in the cache: the parts of its View, and the other workload that runs its pods. It must not be
// changed.
type Record struct {
	workload.Ref

	state workload.State
	// object is shared by the records of a workload in a Cache with equal views.
	object *workload.ObjectView
	// pod is shared by the workloads of a Cache with equal pods.
	pod *workload.PodView
	// ownership contains the fields of the operator's managers. Workloads with the same sidecar share it.
	ownership *ownership

	// reference is the other workload with the pods that this workload runs, or nil for none. runner is the workload that
	// runs the pods of this workload, and base the record without that workload. Both are nil for its own controller.
	reference    *workload.Reference
	runner, base *Record
	// history is Content.History of the workload.
	history int32
}

// NewRecord returns the record of a workload that is not in a Cache.
func NewRecord(object workload.Object) *Record {
	content, _ := workload.Read(object)
	record := newRecord(object, &content, limitOwnership(workload.ReadOwnership(object)))
	record.readTemplate(&content)
	return record
}

// newRecord returns the record of a workload. It does not set the fields that readTemplate sets, and drops labels and
// annotations that are too large.
func newRecord(object workload.Object, content *workload.Content, ownership *ownership) *Record {
	view := content.ObjectView(object, &ownership.Ownership)
	record := &Record{
		Ref: content.Ref(object), state: content.State(object), object: &view, ownership: ownership,
		reference: content.Refers, history: content.History,
	}
	record.dropOversizedMetadata()
	return record
}

// readTemplate sets the parts of the record that come from the pod template.
func (r *Record) readTemplate(content *workload.Content) {
	pod := content.PodView(&r.ownership.Ownership)
	r.state.Template, r.pod = workload.TemplateDigest(content.Template, r.ownership.Owned), &pod
	r.dropOversizedTemplate()
}

// hasSameSpec reports whether the record has the spec of a later version of the workload. The API server changes the
// generation with the spec.
func (r *Record) hasSameSpec(later workload.Object) bool {
	return r.state.Generation != 0 && r.state.Generation == later.GetGeneration() && r.UID == later.GetUID()
}

// NewRecordWithView returns a record that has a View and is not in a Cache. The View has no Account.
func NewRecordWithView(view workload.View) *Record {
	return &Record{
		Ref: view.Ref, state: view.State, object: &view.ObjectView, pod: &view.PodView,
		ownership: &ownership{Ownership: workload.Ownership{Managers: managersIn(&view), Owned: view.Owned, Marks: view.Marks}},
	}
}

// managersIn returns the operator's field managers that have fields or marks in a workload.
func managersIn(view *workload.View) []string {
	managers := slices.AppendSeq(slices.Collect(maps.Keys(view.Owned)), maps.Keys(view.Marks))
	slices.Sort(managers)
	return slices.Compact(managers)
}

// View returns the View of the workload. Maps and slices in it must not be changed.
func (r *Record) View() workload.View {
	return workload.View{Ref: r.Ref, State: r.state, ObjectView: *r.object, PodView: *r.pod}
}

// State returns the State of the View.
func (r *Record) State() workload.State { return r.state }

// ResourceVersion returns the resource version of the workload.
func (r *Record) ResourceVersion() string { return r.state.ResourceVersion }

// Generation returns the generation of the workload.
func (r *Record) Generation() int64 { return r.state.Generation }

// Rollout returns the state of the workload's rollout.
func (r *Record) Rollout() workload.Rollout { return r.state.Rollout }

// StateSince returns the time since when the rollout has this state.
func (r *Record) StateSince() time.Time { return r.state.StateSince }

// GetObjectKind implements runtime.Object, the type of the items of a list.
func (r *Record) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }

// DeepCopyObject implements runtime.Object. Records do not change, so that the copy shares their content.
func (r *Record) DeepCopyObject() runtime.Object {
	copied := *r
	return &copied
}

// GetObjectMeta returns the identity and version of the workload, for the cache of the informer.
func (r *Record) GetObjectMeta() metav1.Object {
	return &metav1.ObjectMeta{
		Namespace: r.Namespace, Name: r.Name, UID: r.UID, ResourceVersion: r.state.ResourceVersion, Generation: r.state.Generation,
	}
}

// Labels returns the labels of the workload, without the labels of its pods. They must not be changed.
func (r *Record) Labels() labels.Set { return r.object.Labels }

// LacksLabels reports whether the labels were not read, so that it is unknown which selectors match them.
func (r *Record) LacksLabels() bool { return r.object.Unread.LacksLabels }

// Managers returns the operator's field managers that have fields or marks in the workload.
func (r *Record) Managers() []string { return r.ownership.Managers }

// Traces returns the traces of the operator's field managers in the workload.
func (r *Record) Traces() []workload.Trace { return r.ownership.Traces }

// IsDeleting returns Deleting of the View.
func (r *Record) IsDeleting() bool { return r.object.Deleting }

// HistoryLimit returns the revisionHistoryLimit of the workload, or a negative number for none.
func (r *Record) HistoryLimit() int32 { return r.history }

// HasOverrides reports whether the View has Overrides.
func (r *Record) HasOverrides() bool { return len(r.object.Overrides) > 0 }

// HasSameView reports whether another record has the same View except for its State. It takes a few nanoseconds for
// records of an unchanged workload in a Cache.
func (r *Record) HasSameView(other *Record) bool {
	return r.Ref == other.Ref && (r.pod == other.pod || reflect.DeepEqual(r.pod, other.pod)) && (r.object == other.object || reflect.DeepEqual(r.object, other.object)) &&
		(r.ownership == other.ownership || reflect.DeepEqual(&r.ownership.Ownership, &other.ownership.Ownership))
}

// EquivalentTo reports whether another record looks the same to planning, except for versions.
func (r *Record) EquivalentTo(other *Record) bool {
	return r.HasSameView(other) && r.state.EquivalentTo(&other.state)
}

// CarryOver copies from the previous record of the same workload since when the workload has looked the same. It
// must be called before the record is shared.
func (r *Record) CarryOver(previous *Record, now time.Time) {
	if r.UID != previous.UID {
		return // The watch has missed the deletion of an earlier workload of that name.
	}
	if r.EquivalentTo(previous) {
		r.state.EquivalentVersion = previous.state.EquivalentVersion
	}
	r.state.CarryOver(&previous.state, r.HasSameTemplate(previous), now)
}

// HasSameTemplate reports whether another record of the same workload has the same pod template, including the
// sidecar. Labels, replicas and field managers may differ. A workload of the same generation has the same template.
func (r *Record) HasSameTemplate(other *Record) bool {
	if r.state.Generation != 0 && r.state.Generation == other.state.Generation && r.UID == other.UID {
		return true
	}
	return r.state.Template == other.state.Template && r.object.TemplateSource == other.object.TemplateSource && r.object.Unread == other.object.Unread &&
		(r.ownership == other.ownership || reflect.DeepEqual(r.injectedSpecs(), other.injectedSpecs()))
}

// injectedSpecs returns the fields that are merged into the pod template, by manager.
func (r *Record) injectedSpecs() map[string]any {
	specs := map[string]any{}
	for manager := range r.ownership.Owned {
		if spec, ok := r.ownership.Owned[manager].Tree["spec"]; ok {
			specs[manager] = spec
		}
	}
	return specs
}
