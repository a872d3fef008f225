// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"weak"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Record is what the cache holds in place of a workload: all that its View shows,
// in as few bytes as that takes. Make one with a Reducer. It must not be changed.
type Record struct {
	// Namespace and Name find the workload; UID is not that of an earlier one.
	Namespace, Name string
	UID             types.UID

	resourceVersion string
	generation      int64
	deleting        bool
	rollout         Rollout
	body            *body
	// seen is the first version that looked like this.
	seen string
}

// body is what a change of the status leaves as it was.
type body struct {
	labels     Labels
	lastWriter string
	owned      *ownership
	// packed is the rest of what a View is made of: a Deployment in protobuf, with
	// nothing in it that does not show, so that equal bytes are equal Views.
	packed []byte
	// view is the last one that was unpacked, for as long as the collector of
	// garbage leaves it: passes come one soon after the other, or hardly ever.
	view atomic.Pointer[weak.Pointer[View]]
}

// View returns what planning sees of the workload: the same as Of the whole one. It
// must not be changed.
func (r *Record) View() View {
	var shown *View
	if last := r.body.view.Load(); last != nil {
		shown = last.Value()
	}
	if shown == nil {
		shown = r.body.unpack()
		last := weak.Make(shown)
		r.body.view.Store(&last)
	}
	view := *shown
	view.Ref = Ref{Kind: KindDeployment, Namespace: r.Namespace, Name: r.Name, UID: r.UID}
	view.ResourceVersion, view.Generation, view.Seen = r.resourceVersion, r.generation, r.seen
	view.Rollout, view.Deleting = r.rollout, r.deleting
	return view
}

// unpack returns the view without what is the record's own.
func (b *body) unpack() *View {
	var rest appsv1.Deployment
	if err := rest.Unmarshal(b.packed); err != nil {
		panic(fmt.Sprintf("unpacking what was packed here: %v", err))
	}
	rest.Labels = maps.Collect(b.labels.All())
	view := viewOf(&rest, b.owned.byManager, "", b.lastWriter)
	return &view
}

// GetObjectMeta has the cache know the workload and its version.
func (r *Record) GetObjectMeta() metav1.Object {
	return &metav1.ObjectMeta{
		Namespace: r.Namespace, Name: r.Name, UID: r.UID, ResourceVersion: r.resourceVersion, Generation: r.generation,
	}
}

// Labels are those of the workload itself.
func (r *Record) Labels() Labels { return r.body.labels }

// Managers are the operator's field managers that have something in the workload.
func (r *Record) Managers() []string { return r.body.owned.managers }

// LooksLike tells whether planning sees the same in another record, versions apart.
func (r *Record) LooksLike(other *Record) bool {
	return r.rollout == other.rollout && r.UID == other.UID && r.deleting == other.deleting && r.body.equals(other.body)
}

// Follow notes that the record comes after another that looks like it. It is called
// before anybody else has the record.
func (r *Record) Follow(before *Record) { r.seen = before.seen }

func (b *body) equals(other *body) bool {
	return b == other || b.lastWriter == other.lastWriter && b.owned == other.owned &&
		bytes.Equal(b.packed, other.packed) && slices.Equal(b.labels, other.labels)
}
