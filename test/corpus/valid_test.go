// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Every value of every field is one that the API server takes, and knows.
func TestEveryValueIsValid(t *testing.T) {
	namespace := world.Namespace(t)
	fields, err := Fields()
	require.NoError(t, err)
	for _, field := range fields {
		for _, one := range field.variants(Logging()) {
			workload := build(Create, Logging(), part{variant: one})
			object := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(workload.Writes[0].Object)}
			object.SetNamespace(namespace)
			object.SetName("any")
			err := world.Client.Create(t.Context(), object, client.DryRunAll, client.FieldValidation("Strict"))
			if err != nil {
				t.Errorf("%s: %v", workload.About, err)
			}
		}
	}
}
