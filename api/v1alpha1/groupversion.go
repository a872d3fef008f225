// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the API group and version of every kind in this package.
var GroupVersion = schema.GroupVersion{Group: "observability.kontroloop.ai", Version: "v1alpha1"}

// AddToScheme registers the kinds of this package.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &VectorSidecar{}, &VectorSidecarList{}, &ClusterVectorSidecar{}, &ClusterVectorSidecarList{}, &OverlaySet{}, &OverlaySetList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
