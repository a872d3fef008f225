// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// owned returns a plan for a workload with a controller owner.
func owned(action plan.Change, hasParts bool) plan.Plan {
	p := seen("1", 1, "a")
	p.Change, p.Existing.HasSidecar, p.Owner, p.LastWriter = action, hasParts, &workload.Owner{Kind: "Kafka.kafka.strimzi.io", Name: "orders"}, "strimzi"
	return *p
}

// The state keeps which workloads with a controller owner got the sidecar, until a user requests its removal or a
// retry.
func TestOwnedWorkloadWriter_RemembersInjectedWorkload(t *testing.T) {
	inject, current, gone := owned(plan.Inject, false), owned(plan.None, true), owned(plan.Inject, false)
	gone.Block = &plan.Block{Kind: plan.BlockedByOwnerRemoval}
	free := owned(plan.None, true)
	free.Owner = nil
	optedOut, removed, adopted := owned(plan.Inject, false), owned(plan.Remove, true), owned(plan.Adopt, true)
	optedOut.Block = &plan.Block{Kind: plan.BlockedByOptOut}
	for name, test := range map[string]struct {
		happen func(*Sidecar)
		want   bool
	}{
		"nothing":           {func(*Sidecar) {}, false},
		"a write":           {func(s *Sidecar) { s.RecordWrite(&inject, 2, "2") }, true},
		"a look":            {func(s *Sidecar) { s.KeepExpectations([]plan.Plan{current}) }, true},
		"one that it lost":  {func(s *Sidecar) { s.RecordWrite(&inject, 2, "2"); s.KeepExpectations([]plan.Plan{gone}) }, true},
		"one of nobody":     {func(s *Sidecar) { s.KeepExpectations([]plan.Plan{free}) }, false},
		"none to take over": {func(s *Sidecar) { s.KeepExpectations([]plan.Plan{adopted}) }, false},
		"one taken over":    {func(s *Sidecar) { s.RecordWrite(&adopted, 2, "2") }, true},
		"an opt-out":        {func(s *Sidecar) { s.RecordWrite(&inject, 2, "2"); s.KeepExpectations([]plan.Plan{optedOut}) }, false},
		"a removal":         {func(s *Sidecar) { s.RecordWrite(&inject, 2, "2"); s.KeepExpectations([]plan.Plan{removed}) }, false},
		"a retry":           {func(s *Sidecar) { s.RecordWrite(&inject, 2, "2"); s.ResetRejections("again") }, false},
		"the same retry": {func(s *Sidecar) {
			s.ResetRejections("again")
			s.RecordWrite(&inject, 2, "2")
			s.ResetRejections("again")
		}, true},
		"another retry": {func(s *Sidecar) {
			s.ResetRejections("again")
			s.RecordWrite(&inject, 2, "2")
			s.ResetRejections("and again")
		}, false},
		"no match any more": {func(s *Sidecar) { s.RecordWrite(&inject, 2, "2"); s.KeepExpectations(nil) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			known := New(time.Now).GetOrCreate(logsOfShop)
			test.happen(known)
			writer, has := known.OwnedWorkloadWriter("u")
			require.Equal(t, test.want, has)
			require.Equal(t, test.want, writer == "strimzi")
		})
	}
}

// If controller owners remove the sidecar of a ClusterVectorSidecar in one namespace, its status in each other
// namespace contains these removals, too.
func TestStatus_SharesOwnerRemovalsBetweenNamespaces(t *testing.T) {
	known := New(time.Now).GetOrCreate(logsOfShop)
	found := func(kind string) v1alpha1.OwnerRemoval {
		return v1alpha1.OwnerRemoval{Kind: "StatefulSet", OwnerKind: kind, RemovalTime: metav1.NewTime(time.Unix(0, 0))}
	}
	sidecar := &v1alpha1.VectorSidecar{ObjectMeta: metav1.ObjectMeta{Name: meta.ClusterSidecarName("logs")}, Status: v1alpha1.VectorSidecarStatus{RemovedByOwners: []v1alpha1.OwnerRemoval{found("Kafka")}}}
	require.Equal(t, sidecar.Status.RemovedByOwners, known.Status(sidecar).RemovedByOwners)
	known.MarkStatusWritten(&v1alpha1.VectorSidecar{Status: v1alpha1.VectorSidecarStatus{MatchedWorkloads: 1, RemovedByOwners: []v1alpha1.OwnerRemoval{found("Redis")}}})

	status := known.Status(sidecar)
	require.EqualValues(t, 1, status.MatchedWorkloads)
	require.Equal(t, []v1alpha1.OwnerRemoval{found("Redis"), found("Kafka")}, status.RemovedByOwners)
}
