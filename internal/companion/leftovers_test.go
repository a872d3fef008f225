// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package companion

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

const (
	ours   = "vector-system/vso"
	theirs = "observability/vso"
)

var cart = workload.Ref{Kind: "Deployment", Namespace: "shop", Name: "cart", UID: "1"}

// find judges a workload; sidecars are those that exist, one for a namespace.
func find(carrier Carrier, writtenBy string, sidecars map[string]string) []Leftover {
	var all []v1alpha1.VectorSidecar
	for namespace, name := range sidecars {
		all = append(all, v1alpha1.VectorSidecar{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}})
	}
	return FindLeftovers(slices.Values([]Carrier{carrier}), NewExistenceCheck(all, nil), writtenBy)
}

// Each case is a workload with parts of a sidecar whose VectorSidecar does not exist. The operator removes only a
// sidecar that its own installation wrote. It reports or keeps all others.
func TestFindLeftovers_RemovesOnlySidecarsOfOperator(t *testing.T) {
	for name, test := range map[string]struct {
		trace workload.Trace
		want  LeftoverAction
		why   string
	}{
		"a late write of ours":      {workload.Trace{Applied: true, WrittenBy: ours}, Clean, "nobody wants it"},
		"with mounts":               {workload.Trace{Applied: true, Patched: true, Listed: true, WrittenBy: ours}, Clean, "the patch comes with the apply"},
		"of another installation":   {workload.Trace{Applied: true, WrittenBy: theirs}, Report, "it has an operator of its own"},
		"without a mark":            {workload.Trace{Applied: true, Listed: true}, Report, "the operator did not know its installation, or the mark was removed"},
		"left by Orphan":            {workload.Trace{Applied: true, Orphan: "true"}, Retain, "it is meant to stay"},
		"left, and a write arrived": {workload.Trace{Applied: true, WrittenBy: ours, Orphan: "true"}, Retain, "it is meant to stay all the same"},
		"a revision that came back": {workload.Trace{Listed: true}, Report, "nobody applied it"},
		"it came back with a mark":  {workload.Trace{Listed: true, WrittenBy: ours}, Report, "nobody applied it"},
		"the record of a patch":     {workload.Trace{Patched: true}, Report, "there is nothing to take out"},
		"copied annotations":        {workload.Trace{Marked: true, WrittenBy: ours}, Report, "whoever copied them would restore them"},
	} {
		t.Run(name, func(t *testing.T) {
			test.trace.Manager = meta.Manager("logs")
			found := find(Carrier{Ref: cart, Traces: []workload.Trace{test.trace}}, ours, nil)
			require.Len(t, found, 1)
			require.Equal(t, test.want, found[0].Action, test.why)
			require.Equal(t, "logs", found[0].Sidecar)
			require.NotEmpty(t, found[0].Reason)
		})
	}
}

// If the operator does not know the name of its installation, it reports leftover sidecars and removes none.
func TestFindLeftovers_RemovesNothingWithoutOperatorName(t *testing.T) {
	for _, writtenBy := range []string{"", ours} {
		trace := workload.Trace{Manager: meta.Manager("logs"), Applied: true, WrittenBy: writtenBy}
		require.Equal(t, Report, find(Carrier{Ref: cart, Traces: []workload.Trace{trace}}, "", nil)[0].Action)
	}
}

// A sidecar is a leftover only if the namespace has no VectorSidecar of its name, and its workload is not being
// deleted.
func TestFindLeftovers_SkipsSidecarsInUse(t *testing.T) {
	long := strings.Repeat("a", 253)
	for name, test := range map[string]struct {
		sidecar  string
		there    map[string]string
		deleting bool
		want     int
	}{
		"its VectorSidecar exists":      {"logs", map[string]string{"shop": "logs"}, false, 0},
		"one of a long name exists":     {long, map[string]string{"shop": long}, false, 0},
		"it exists elsewhere":           {"logs", map[string]string{"pay": "logs"}, false, 1},
		"another one exists":            {"logs", map[string]string{"shop": "audit"}, false, 1},
		"the workload is being deleted": {"logs", nil, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			trace := workload.Trace{Manager: meta.Manager(test.sidecar), Applied: true, WrittenBy: ours}
			require.Len(t, find(Carrier{Ref: cart, Deleting: test.deleting, Traces: []workload.Trace{trace}}, ours, test.there), test.want)
		})
	}
}

// Leftover sidecars are sorted by namespace, workload and VectorSidecar, whatever the order of the workloads.
func TestFindLeftovers_SortsResults(t *testing.T) {
	traces := []workload.Trace{{Manager: meta.Manager("logs")}, {Manager: meta.Manager("audit")}}
	found := FindLeftovers(slices.Values([]Carrier{
		{Ref: cart, Traces: traces},
		{Ref: workload.Ref{Namespace: "pay", Name: "till"}, Traces: traces[:1]},
	}), NewExistenceCheck(nil, nil), ours)

	var names []string
	for _, f := range found {
		names = append(names, f.Namespace+"/"+f.Name+" "+f.Sidecar)
	}
	require.Equal(t, []string{"pay/till logs", "shop/cart audit", "shop/cart logs"}, names)
}
