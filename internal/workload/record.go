// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"bytes"
	"fmt"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Record is what the cache holds in place of a workload: all that its View shows,
// in as few bytes as that takes. Make one with a Reducer. It must not be changed.
type Record struct {
	// ObjectMeta has the identity, the versions and the labels, and nothing else.
	metav1.ObjectMeta

	rollout    Rollout
	lastWriter string
	owned      *ownership
	// packed is the rest of what a View is made of: a Deployment in protobuf, with
	// nothing in it that does not show, so that equal bytes are equal Views.
	packed []byte
}

// View returns what planning sees of the workload: the same as Of the whole one.
func (r *Record) View() View {
	var rest appsv1.Deployment
	if err := rest.Unmarshal(r.packed); err != nil {
		panic(fmt.Sprintf("unpacking what was packed here: %v", err))
	}
	rest.ObjectMeta = metav1.ObjectMeta{
		Namespace: r.Namespace, Name: r.Name, UID: r.UID, ResourceVersion: r.ResourceVersion, Generation: r.Generation,
		DeletionTimestamp: r.DeletionTimestamp, Labels: r.Labels, Annotations: rest.Annotations,
	}
	return viewOf(&rest, r.owned.byManager, r.rollout, r.lastWriter)
}

// Managers are the operator's field managers that have something in the workload.
func (r *Record) Managers() []string { return r.owned.managers }

// LooksLike tells whether planning sees the same in another record, versions apart.
func (r *Record) LooksLike(other *Record) bool {
	return r.rollout == other.rollout && r.lastWriter == other.lastWriter && r.owned.digest == other.owned.digest &&
		r.DeletionTimestamp.Equal(other.DeletionTimestamp) && r.UID == other.UID &&
		bytes.Equal(r.packed, other.packed) && maps.Equal(r.Labels, other.Labels)
}
