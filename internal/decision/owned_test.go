// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

const owner = "strimzi-cluster-operator"

// ofKafka has the first workload be one of Kafka orders, as its operator wrote it.
func ofKafka(s *Snapshot) {
	change(s, func(v *workload.View) {
		v.Owner, v.LastWriter, v.Generation = &workload.Owner{Kind: "Kafka.kafka.strimzi.io", Name: "orders"}, owner, 3
	})
}

// as is a VectorSidecar with spec.ownedWorkloads.
func as(owned v1alpha1.OwnedWorkloads, retry string) *v1alpha1.VectorSidecar {
	vs := logs().WithSoak(0).Build()
	vs.Spec.OwnedWorkloads = owned
	if retry != "" {
		vs.Annotations = map[string]string{meta.AnnotationRetryRollout: retry}
	}
	return vs
}

func kafkas(retry string) []v1alpha1.OwnerRemoval {
	return []v1alpha1.OwnerRemoval{{Kind: "Deployment", OwnerKind: "Kafka.kafka.strimzi.io", Name: "broker", Owner: "other", RemovalTime: metav1.NewTime(noon), Retry: fleet.RetryDigest(as("", retry).Annotations)}}
}

// had has this process know that the workload has carried the sidecar when that was its last writer.
func had(lastWriter string) func(*Snapshot) {
	return func(s *Snapshot) { s.OwnedSidecarWriter = func(types.UID) (string, bool) { return lastWriter, true } }
}

// Each case is a workload with a controller owner and without the sidecar, and whether the operator injects it again.
func TestDecide_RespectsRemovalByControllerOwner(t *testing.T) {
	by := func(writer string) func(*Snapshot) {
		return func(s *Snapshot) { change(s, func(v *workload.View) { v.LastWriter = writer }) }
	}
	annotated := func(s *Snapshot) {
		change(s, func(v *workload.View) {
			v.Owned = map[string]workload.OwnedFields{meta.Manager("logs"): {InjectedHash: "of before", HasPlainAnnotations: true, Hash: "x", Tree: map[string]any{
				"metadata": map[string]any{"annotations": map[string]any{meta.AnnotationInjectedHash: "of before"}},
			}}}
		})
	}
	changed := func(s *Snapshot) {
		asked := s.Sidecar
		carried(s, &decide(t, s).Plans[0])
		change(s, func(v *workload.View) {
			of := v.Owned[meta.Manager("logs")]
			of.Hash = "of something else"
			v.Owned = map[string]workload.OwnedFields{meta.Manager("logs"): of}
		})
		s.Sidecar = asked
	}
	const taken = meta.ReasonRemovedByOwner
	for name, test := range map[string]struct {
		retry  string
		told   []v1alpha1.OwnerRemoval
		happen []func(*Snapshot)
		want   plan.Change
		reason string
		why    string
	}{
		"a new one":                              {"", nil, nil, plan.Inject, meta.ReasonOwnedBy, "it is said, and done"},
		"one that had it":                        {"", nil, []func(*Snapshot){had(owner)}, plan.ActionBlocked, taken, "who else should have taken it out"},
		"one that a person wrote long ago":       {"", nil, []func(*Snapshot){had("kubectl-label"), by("kubectl-label")}, plan.ActionBlocked, taken, "a removal leaves no writer on record, and that one is old"},
		"one that a person wrote now":            {"", nil, []func(*Snapshot){had(owner), by("kubectl-edit")}, plan.Inject, meta.ReasonOwnedBy, "the person has taken it out"},
		"one that a person applied":              {"", nil, []func(*Snapshot){had(owner), by("kubectl-client-side-apply")}, plan.Inject, meta.ReasonOwnedBy, "as above"},
		"one that a program wrote":               {"", nil, []func(*Snapshot){had(owner), by("other-operator")}, plan.ActionBlocked, taken, "no person is known to have"},
		"one whose annotations are left":         {"", nil, []func(*Snapshot){annotated}, plan.ActionBlocked, taken, "they say that it had one, also to a new process"},
		"the same, by a person":                  {"", nil, []func(*Snapshot){annotated, by("kubectl-edit")}, plan.Update, "", "the person may have"},
		"the same, after a retry":                {"again", nil, []func(*Snapshot){annotated}, plan.Update, "", "that may have been before"},
		"one with a changed sidecar":             {"", nil, []func(*Snapshot){changed}, plan.ActionBlocked, taken, "a repair would be undone as well"},
		"one that a person changed":              {"", nil, []func(*Snapshot){changed, by("kubectl-edit")}, plan.Update, "", "as ever"},
		"a new one of a kind that takes it out":  {"", kafkas(""), nil, plan.ActionBlocked, taken, "so would this one's owner"},
		"that kind, after a retry":               {"again", kafkas(""), nil, plan.Inject, meta.ReasonOwnedBy, "a person wants to know"},
		"that kind, after a retry that failed":   {"again", kafkas("again"), nil, plan.ActionBlocked, taken, "it was tried"},
		"one of a stale cache":                   {"", nil, []func(*Snapshot){had(owner), func(s *Snapshot) { s.WrittenGeneration = func(types.UID) int64 { return 4 } }}, plan.Inject, meta.ReasonOwnedBy, "our own write does not show yet"},
		"one that was written before this write": {"", nil, []func(*Snapshot){had(owner), func(s *Snapshot) { s.WrittenGeneration = func(types.UID) int64 { return 2 } }}, plan.ActionBlocked, taken, "and since"},
	} {
		t.Run(name, func(t *testing.T) {
			s := snapshot(t, as("", test.retry), cart())
			s.Now, s.Sidecar.Status.RemovedByOwners = noon, test.told
			ofKafka(s)
			for _, happens := range test.happen {
				happens(s)
			}
			decided := decide(t, s)
			p := &decided.Plans[0]
			require.EqualValues(t, test.want, p.Action(), test.why)
			require.Equal(t, test.reason, p.Reason())
			require.Equal(t, test.want != plan.ActionBlocked, p.Writes())
			if test.reason == "" {
				return
			}
			require.Contains(t, p.Message(), "Kafka.kafka.strimzi.io/orders")
			if test.reason == taken {
				require.Len(t, decided.OwnerRemovals, 1)
				require.Equal(t, fleet.RetryDigest(s.Sidecar.Annotations), decided.OwnerRemovals[0].Retry)
				require.Equal(t, v1alpha1.StateBlocked, p.State())
				s.Sidecar.Status.RemovedByOwners, s.OwnedSidecarWriter = decided.OwnerRemovals, nil
				require.Equal(t, taken, decide(t, s).Plans[0].Reason(), "a new process knows it from the status")
				return
			}
			require.Empty(t, decided.OwnerRemovals)
		})
	}
}

// If the controller owner of a workload keeps the sidecar, the workload stays injected and receives changes, even if
// owners of the same kind have removed the sidecar elsewhere.
func TestDecide_KeepsSidecarInOtherOwnedWorkloads(t *testing.T) {
	s := snapshot(t, as("", ""), cart())
	ofKafka(s)
	carried(s, &decide(t, s).Plans[0])
	s.Sidecar.Status.RemovedByOwners = kafkas("")
	require.Equal(t, plan.None, decide(t, s).Plans[0].Change)
	s.Sidecar.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: "trace"}
	decided := decide(t, s)
	require.Equal(t, plan.Update, decided.Plans[0].Change)
	require.Equal(t, kafkas(""), decided.OwnerRemovals)
}

// Each case has a value of spec.ownedWorkloads, and the result for a workload with and without the sidecar.
func TestDecide_AppliesOwnedWorkloadsSetting(t *testing.T) {
	for name, test := range map[string]struct {
		owned         v1alpha1.OwnedWorkloads
		left          string
		bare, carries plan.Change
		message       string
	}{
		"injected into":                     {v1alpha1.OwnedInject, "", plan.Inject, plan.Update, "if that owner removes the sidecar"},
		"left out":                          {v1alpha1.OwnedSkip, "", plan.ActionBlocked, plan.Remove, "spec.ownedWorkloads is Skip"},
		"left to the API server":            {v1alpha1.OwnedAtAdmission, "", plan.ActionDefer, plan.ActionDefer, "the API server injects the sidecar with the owner's next change"},
		"left to an API server that is off": {v1alpha1.OwnedAtAdmission, "it is off", plan.ActionBlocked, plan.ActionBlocked, "does not inject the sidecar: it is off"},
	} {
		t.Run(name, func(t *testing.T) {
			s := snapshot(t, as("", ""), cart())
			s.AdmissionBlocker = test.left
			ofKafka(s)
			has := *s
			carried(&has, &decide(t, &has).Plans[0])
			s.Sidecar = as(test.owned, "")
			s.Sidecar.Status.RemovedByOwners = kafkas("")
			if test.owned == v1alpha1.OwnedInject {
				s.Sidecar.Status.RemovedByOwners = nil
			}
			decided := decide(t, s)
			p := &decided.Plans[0]
			require.EqualValues(t, test.bare, p.Action())
			require.Equal(t, meta.ReasonOwnedBy, p.Reason())
			require.Contains(t, p.Message(), test.message)
			require.Equal(t, test.bare == plan.Inject, p.Writes())
			require.Empty(t, decided.OwnerRemovals, "it holds where the operator injects")
			has.Sidecar = s.Sidecar.DeepCopy()
			has.Sidecar.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: "trace"}
			p = &decide(t, &has).Plans[0]
			require.EqualValues(t, test.carries, p.Action())
			require.Equal(t, test.carries == plan.Update || test.carries == plan.Remove, p.Writes())
		})
	}
	s := snapshot(t, as(v1alpha1.OwnedSkip, ""), cart())
	require.Equal(t, plan.Inject, decide(t, s).Plans[0].Change, "nobody owns it")
}

// Controller owners of many kinds remove the sidecar. The record keeps a limited number of these removals, and drops
// the oldest one first.
func TestDecide_LimitsRecordedRemovals(t *testing.T) {
	var all []v1alpha1.OwnerRemoval
	for i := range 2 * v1alpha1.MaxOwnerRemovals {
		one := kafkas("")
		one[0].OwnerKind = fmt.Sprint(i)
		all = decision.MergeOwnerRemovals(all, one)
	}
	require.Len(t, all, v1alpha1.MaxOwnerRemovals)
	require.Equal(t, fmt.Sprint(v1alpha1.MaxOwnerRemovals), all[0].OwnerKind, "the first went")
	again := decision.MergeOwnerRemovals(all, all)
	require.Equal(t, all, again)

	later := kafkas("again")
	later[0].RemovalTime = metav1.NewTime(noon.Add(time.Hour))
	require.Equal(t, later, decision.MergeOwnerRemovals(kafkas(""), later), "a retry was between them")
	require.Equal(t, later, decision.MergeOwnerRemovals(later, kafkas("")))
}

// If controller owners of a kind remove the sidecar in one namespace, other namespaces keep it, until several
// namespaces have reported the same kind.
func TestDecide_IsolatesOwnerRemovalsByNamespace(t *testing.T) {
	in := func(namespace, ownerKind string) []v1alpha1.OwnerRemoval {
		one := kafkas("")
		one[0].Namespace, one[0].OwnerKind = namespace, ownerKind
		return one
	}
	kafka := kafkas("")[0].OwnerKind
	var all []v1alpha1.OwnerRemoval
	for n, namespace := range []string{"a", "b", "c", "d"} {
		all = decision.MergeOwnerRemovals(all, in(namespace, kafka))
		require.Len(t, all, min(n+1, v1alpha1.BelievedNamespaces))
		s := snapshot(t, as("", ""), cart())
		s.Sidecar.Name, s.Sidecar.Status.RemovedByOwners = meta.ClusterSidecarName(s.Sidecar.Name), all
		ofKafka(s)
		want := plan.Inject
		if n+1 >= v1alpha1.BelievedNamespaces {
			want = plan.ActionBlocked
		}
		require.EqualValues(t, want, decide(t, s).Plans[0].Action(), "found in %d namespaces", n+1)
	}
	require.Len(t, decision.MergeOwnerRemovals(slices.Clone(all), kafkas("again")), len(all)+1, "a retry was between them")

	all = decision.MergeOwnerRemovals(all, in("other", "Redis"))
	for i := range 2 * v1alpha1.MaxOwnerRemovals {
		all = decision.MergeOwnerRemovals(all, in("hostile", fmt.Sprint(i)))
	}
	require.Len(t, all, v1alpha1.MaxOwnerRemovals)
	for _, stays := range slices.Concat(in("a", kafka), in("b", kafka), in("c", kafka), in("other", "Redis")) {
		require.Contains(t, all, stays)
	}
}
