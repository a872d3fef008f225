// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// The API server rejects a status with fields that its schema does not declare, and names them. Exactly these fields of
// the status are removed.
func TestRemoveUndeclared_RemovesFieldsNamedInError(t *testing.T) {
	const prefix = "failed to create typed patch object (shop/logs; observability.kontroloop.ai/v1alpha1, Kind=VectorSidecar): "
	const before = `{"spec":{"new":1},"status":{"new":{"a":1},"rollout":{"new":1,"old":1},"workloads":[{"name":"cart","new":1},{"name":"shop","new":2}]}}`
	for name, test := range map[string]struct{ message, want string }{
		"field of the status": {
			prefix + ".status.new: field not declared in schema",
			`{"spec":{"new":1},"status":{"rollout":{"new":1,"old":1},"workloads":[{"name":"cart","new":1},{"name":"shop","new":2}]}}`,
		},
		"fields below": {
			prefix + "errors:\n  .status.rollout.new: field not declared in schema\n  .status.workloads[kind=\"Deployment\",name=\"cart\"].new: field not declared in schema",
			`{"spec":{"new":1},"status":{"new":{"a":1},"rollout":{"old":1},"workloads":[{"name":"cart"},{"name":"shop"}]}}`,
		},
		"field that is missing":  {prefix + ".status.other[0].new: field not declared in schema", before},
		"field outside":          {prefix + ".spec.new: field not declared in schema", ""},
		"duplicate item":         {prefix + `.status.workloads: duplicate entries for key [name="cart"]`, ""},
		"error of another cause": {"etcdserver: request timed out", ""},
	} {
		t.Run(name, func(t *testing.T) {
			body := map[string]any{}
			require.NoError(t, json.Unmarshal([]byte(before), &body))
			require.Equal(t, test.want != "", removeUndeclared(body, internal(test.message)))
			want := test.want
			if want == "" {
				want = before
			}
			got, err := json.Marshal(body)
			require.NoError(t, err)
			require.JSONEq(t, want, string(got))
		})
	}
}
