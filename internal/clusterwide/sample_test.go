// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package clusterwide

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The webhook checks a sample of the selected namespaces. The oldest namespace of each environment comes first.
func TestSample_PrefersOldestOfEachEnvironment(t *testing.T) {
	at := func(second int64) metav1.Time { return metav1.NewTime(time.Unix(second, 0)) }
	all := []Namespace{
		{"new", "production", at(9)}, {"shop", "production", at(2)}, {"pay", "production", at(2)},
		{"try", "development", at(7)}, {"first", "development", at(1)}, {"only", "staging", at(8)},
	}
	for most, want := range map[int][]string{
		0: nil,
		2: {"first", "pay"},
		3: {"first", "pay", "only"},
		5: {"first", "pay", "only", "shop", "try"},
		9: {"first", "pay", "only", "shop", "try", "new"},
	} {
		names, environments := Sample(all, most)
		require.ElementsMatch(t, want, names)
		require.Equal(t, want, append([]string(nil), names...), "in this order")
		require.Equal(t, min(most, 3), environments)
	}
	require.Equal(t, "new", all[0].Name, "what was given stays as it is")
	names, environments := Sample(nil, 5)
	require.Empty(t, names)
	require.Zero(t, environments)
}

func TestSample_LimitsNamespaces(t *testing.T) {
	var all []Namespace
	for n := range 1000 {
		all = append(all, Namespace{Name: fmt.Sprintf("n-%03d", n), Environment: fmt.Sprintf("e-%d", n%7)})
	}
	names, environments := Sample(all, 5)
	require.Equal(t, []string{"n-000", "n-001", "n-002", "n-003", "n-004"}, names)
	require.Equal(t, 5, environments)
}
