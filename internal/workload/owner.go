// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
)

// Owner is the controller owner of a workload: an object that another operator manages, and for which that operator
// creates and writes the workload. The Job of a CronJob has no Owner, because it is not a workload.
type Owner struct {
	// Kind is the kind and the API group, such as Kafka.kafka.strimzi.io.
	Kind string
	Name string
}

// String returns kind and name, such as Kafka.kafka.strimzi.io/orders.
func (o *Owner) String() string { return o.Kind + "/" + o.Name }

// maxOwnerBytes is the maximum length in bytes of an owner's kind and of its name. Real names are shorter, but the API
// server accepts any text.
const maxOwnerBytes = 384

// controllerOwner returns the controller owner of a workload, or nil for none.
func controllerOwner(object metav1.Object) *Owner {
	reference := metav1.GetControllerOfNoCopy(object)
	if reference == nil {
		return nil
	}
	kind := reference.Kind
	if group, err := schema.ParseGroupVersion(reference.APIVersion); err == nil { // A malformed apiVersion leaves the kind without a group.
		kind = schema.GroupKind{Group: group.Group, Kind: reference.Kind}.String()
	}
	return &Owner{Kind: humanize.ShortenMessage(kind, maxOwnerBytes), Name: humanize.ShortenMessage(reference.Name, maxOwnerBytes)}
}
