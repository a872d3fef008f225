// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/desired"
)

// The lowest kubelet version in the table of nodes counts, and nodes without a version are skipped.
func TestOldestKubelet_ReadsTableOfNodes(t *testing.T) {
	for name, test := range map[string]struct {
		rows   [][]any
		want   desired.Kubelet
		reason string
	}{
		"no node":          {nil, desired.Kubelet{}, "a cluster may begin without nodes"},
		"several":          {[][]any{{"b", "v1.33.1"}, {"a", "v1.30.9"}, {"c", "v1.31.0"}}, desired.Kubelet{Version: "v1.30.9", Node: "a"}, "the lowest counts"},
		"by number":        {[][]any{{"a", "v1.100.0"}, {"b", "v1.29.0"}}, desired.Kubelet{Version: "v1.29.0", Node: "b"}, "as a text, 1.100 is less"},
		"the same":         {[][]any{{"b", "v1.29.0"}, {"a", "v1.29.0"}}, desired.Kubelet{Version: "v1.29.0", Node: "a"}, "the order of a list is not to change what is said"},
		"a provider's":     {[][]any{{"a", "v1.29.3-gke.1282000"}, {"b", "v1.30.4-eks-a737599"}}, desired.Kubelet{Version: "v1.29.3-gke.1282000", Node: "a"}, "providers add to the version"},
		"none yet":         {[][]any{{"a", ""}, {"b", "v1.30.0"}, {"c", nil}}, desired.Kubelet{Version: "v1.30.0", Node: "b"}, "a node that joins has not reported one"},
		"a row too short":  {[][]any{{"a"}, {"b", "v1.30.0"}}, desired.Kubelet{Version: "v1.30.0", Node: "b"}, "what a server sends is not trusted"},
		"none that counts": {[][]any{{"a", "<unknown>"}}, desired.Kubelet{}, "nothing is known then"},
	} {
		t.Run(name, func(t *testing.T) {
			table := &metav1.Table{ColumnDefinitions: []metav1.TableColumnDefinition{{Name: "Name"}, {Name: "Version"}}}
			for _, cells := range test.rows {
				table.Rows = append(table.Rows, metav1.TableRow{Cells: cells})
			}
			found, err := oldestKubelet(table)
			require.NoError(t, err)
			require.Equal(t, test.want, found, test.reason)
		})
	}
	_, err := oldestKubelet(&metav1.Table{ColumnDefinitions: []metav1.TableColumnDefinition{{Name: "Name"}}})
	require.ErrorContains(t, err, "Version", "a table without the column says nothing about kubelets")
}
