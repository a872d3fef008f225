// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"fmt"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kontroloop.ai/vector-sidecar-operator/internal/render"
)

// constraints is a kind that only OpenShift has, so it identifies OpenShift. Objects of this kind restrict the users of
// pods.
var constraints = schema.GroupKind{Group: "security.openshift.io", Kind: "SecurityContextConstraints"}

// Platform returns the platform of a cluster, by the kinds that its API server serves.
func Platform(kinds apimeta.RESTMapper) (string, error) {
	switch _, err := kinds.RESTMapping(constraints); {
	case apimeta.IsNoMatchError(err):
		return render.Kubernetes, nil
	case err != nil:
		return "", fmt.Errorf("discovering the kind %s: %w", constraints, err)
	}
	return render.OpenShift, nil
}
