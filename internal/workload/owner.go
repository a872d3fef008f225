// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
)

// Owner is the object by which another operator makes a workload, and writes it: its controller
// owner reference. The runs of a CronJob are no workloads, so that none is owned by one.
type Owner struct {
	// Kind has the group: Kafka.kafka.strimzi.io.
	Kind string
	Name string
}

// String is such as Kafka.kafka.strimzi.io/orders.
func (o *Owner) String() string { return o.Kind + "/" + o.Name }

// mostOfOwner is how many bytes of an owner's kind and of its name count. Those of real ones have
// fewer, but the API server takes any text.
const mostOfOwner = 384

// ownerOf returns the owner of a workload, nil for none.
func ownerOf(object metav1.Object) *Owner {
	of := metav1.GetControllerOfNoCopy(object)
	if of == nil {
		return nil
	}
	kind := of.Kind
	if group, err := schema.ParseGroupVersion(of.APIVersion); err == nil { // Else it has been there all the same.
		kind = schema.GroupKind{Group: group.Group, Kind: of.Kind}.String()
	}
	return &Owner{Kind: humanize.Message(kind, mostOfOwner), Name: humanize.Message(of.Name, mostOfOwner)}
}

// OwnerReferences returns the part of a workload's owner references that its View is made from,
// without allocating anything for a workload without an owner.
func OwnerReferences(object metav1.Object) []metav1.OwnerReference {
	of := metav1.GetControllerOfNoCopy(object)
	if of == nil {
		return nil
	}
	return []metav1.OwnerReference{{APIVersion: of.APIVersion, Kind: of.Kind, Name: of.Name}}
}

// packOwner stores an owner as a reference, none for none.
func packOwner(of *Owner) []metav1.OwnerReference {
	if of == nil {
		return nil
	}
	return []metav1.OwnerReference{{Kind: of.Kind, Name: of.Name}}
}

func unpackOwner(from []metav1.OwnerReference) *Owner {
	if len(from) == 0 {
		return nil
	}
	return &Owner{Kind: from[0].Kind, Name: from[0].Name}
}
