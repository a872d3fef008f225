// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// For each field in the table, the API server accepts and stores each value.
func TestFields_HaveValidValues(t *testing.T) {
	namespace := world.Namespace(t)
	for _, kind := range Kinds() {
		tried, undefined := 0, 0
		fields, err := kind.Fields()
		require.NoError(t, err)
		base := kind.Base(Logging())
		for _, field := range fields {
			for _, one := range field.variants(base) {
				workload := build(kind, Create, base, part{variant: one})
				object := &unstructured.Unstructured{Object: kind.Placed(workload.Writes[0].Object)}
				object.SetNamespace(namespace)
				object.SetName("any")
				err := world.Client.Create(t.Context(), object, client.DryRunAll, client.FieldValidation("Strict"))
				tried++
				if kind.custom && isUndefined(err) {
					undefined++
				} else if err != nil {
					t.Errorf("%s: %v", workload.About, err)
				}
			}
		}
		t.Logf("%s: %d values, of which %d are not in its definition", kind.Name, tried, undefined)
		require.Less(t, undefined*2, tried, kind.Name)
	}
}
