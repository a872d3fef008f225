// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

// If admission injection is disabled, the operator deletes OverlaySets of earlier operators.
func TestOperator_DeletesOverlaySetsWithoutInjection(t *testing.T) {
	t.Parallel()
	harness.Eventually(t, "the deletion", func() bool {
		return apierrors.IsNotFound(world.Client.Get(t.Context(), client.ObjectKey{Namespace: metav1.NamespaceDefault, Name: meta.OverlaySet}, &v1alpha1.OverlaySet{}))
	})
}
