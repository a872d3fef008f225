// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
)

// Owner is the controller owner of a workload: the object for which another operator creates and writes the
// workload. A CronJob is never an Owner, because its Jobs do not count as workloads.
type Owner struct {
	// Kind is the kind with the group, such as Kafka.kafka.strimzi.io.
	Kind string
	Name string
}

// String returns kind and name, such as Kafka.kafka.strimzi.io/orders.
func (o *Owner) String() string { return o.Kind + "/" + o.Name }

// mostOfOwner limits the bytes of an owner's kind and of its name. Real names are shorter, but the API server
// accepts any text.
const mostOfOwner = 384

// ownerOf returns the owner of a workload, or nil for none.
func ownerOf(object metav1.Object) *Owner {
	of := metav1.GetControllerOfNoCopy(object)
	if of == nil {
		return nil
	}
	kind := of.Kind
	if group, err := schema.ParseGroupVersion(of.APIVersion); err == nil { // A malformed apiVersion leaves the kind without a group.
		kind = schema.GroupKind{Group: group.Group, Kind: of.Kind}.String()
	}
	return &Owner{Kind: humanize.Message(kind, mostOfOwner), Name: humanize.Message(of.Name, mostOfOwner)}
}

// OwnerReferences returns the part of a workload's owner references that its View is made from. It does not
// allocate for a workload without an owner.
func OwnerReferences(object metav1.Object) []metav1.OwnerReference {
	of := metav1.GetControllerOfNoCopy(object)
	if of == nil {
		return nil
	}
	return []metav1.OwnerReference{{APIVersion: of.APIVersion, Kind: of.Kind, Name: of.Name}}
}

// packOwner stores an owner as an owner reference. The list is empty without an owner.
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
