// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/stretchr/testify/require"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

var (
	noon  = metav1.NewTime(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
	later = metav1.NewTime(noon.Add(time.Hour))
)

func sidecar(change ...func(*v1alpha1.VectorSidecar)) *v1alpha1.VectorSidecar {
	vs := &v1alpha1.VectorSidecar{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "logs", Generation: 3}}
	vs.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("VectorSidecar"))
	for _, c := range change {
		c(vs)
	}
	return vs
}

func disabled(vs *v1alpha1.VectorSidecar) {
	no := false
	vs.Spec.Enabled = &no
}

func wanting(hash string) *plan.Desired {
	return plan.NewDesired(&workload.Overlay{Hash: hash}, "logs", "vector", "", plan.Notes{})
}

// planned is a plan for a workload with nothing else to report.
func planned(name string, action plan.Change, change ...func(*plan.Plan)) plan.Plan {
	p := plan.Plan{
		Target: workload.Ref{Kind: "Deployment", Namespace: "shop", Name: name},
		Change: action, Desired: wanting("h"), Workload: workload.State{Rollout: workload.RolloutComplete, Progress: workload.Progress{Evidence: 1}},
	}
	for _, c := range change {
		c(&p)
	}
	p.Rollout = p.Rollout.WithPhase(&p)
	return p
}

func because(reason, message string) func(*plan.Plan) {
	return func(p *plan.Plan) { p.Rollout.Reason, p.Rollout.Message = reason, message }
}

func stops(kind plan.BlockKind, reason, message string) func(*plan.Plan) {
	return func(p *plan.Plan) { *p = p.WithBlock(&plan.Block{Kind: kind, Reason: reason, Message: message}) }
}

func rollout(state workload.Rollout) func(*plan.Plan) {
	return func(p *plan.Plan) { p.Workload.Rollout, p.Workload.Evidence = state, 1 }
}

func nothingWanted(p *plan.Plan) { p.Desired = nil }

func inFlight(p *plan.Plan) { p.Rollout.InFlight = true }

func fails(reason, message string) func(*plan.Plan) {
	return func(p *plan.Plan) {
		p.Rollout.Phase, p.Rollout.Reason, p.Rollout.Message = plan.RolloutFailed, reason, message
	}
}

func hinders(reason, message string) func(*plan.Plan) {
	return func(p *plan.Plan) {
		p.Rollout.Phase, p.Rollout.Reason, p.Rollout.Message = plan.RolloutPodsBlocked, reason, message
	}
}

func decided(plans ...plan.Plan) *decision.Decision {
	return &decision.Decision{
		Common: desired.Common{Environment: "staging"}, Plans: plans, Matched: len(plans), Kinds: decision.Kinds{Matched: map[string]int{"Deployment": len(plans)}},
	}
}

func invalid() *decision.Decision {
	return &decision.Decision{Matched: 1, Common: desired.Common{Invalid: &desired.Invalid{Reason: meta.ReasonInvalidValues, Message: "values.yaml:3: sidecar.imagee: unknown key"}}}
}

// outdated is a decision that uses the last good version of a template set.
func outdated(plans ...plan.Plan) *decision.Decision {
	of := decided(plans...)
	of.Outdated = &desired.Invalid{Reason: meta.ReasonInvalidTemplateSet, Message: "podtemplate.yaml:3: unexpected"}
	return of
}

// changedMeanwhile is a decision that uses the content with which a rollout began.
func changedMeanwhile(plans ...plan.Plan) *decision.Decision {
	of := decided(plans...)
	of.Waiting = []string{"pipeline"}
	return of
}

func failure(permanent bool) decision.Results {
	return decision.Results{{Object: "Deployment shop/cart", Reason: meta.ReasonConflict, Err: errors.New("applying to Deployment shop/cart: no"), IsPermanent: permanent}}
}

// gone has gone back to its spec of the first generation.
func gone() lastgood.SpecStatus {
	return lastgood.SpecStatus{
		LastGood: &v1alpha1.LastKnownGoodSpec{Digest: "good", Generation: 1, Spec: "{}"},
		Reverted: &v1alpha1.RevertedSpec{Digest: "bad", Generation: 3, FailedWorkloads: 2, RevertTime: noon},
	}
}

// halted returns the rollout status of a VectorSidecar with a revision, while a revision is halted.
func halted(revision, failed string) *v1alpha1.RolloutStatus {
	return &v1alpha1.RolloutStatus{State: v1alpha1.RolloutHalted, Revision: revision, FailedRevision: failed}
}

// The library kstatus, which Flux, kpt and Cluster API use, computes the expected state from the conditions.
func TestNewSidecarStatus_MatchesKstatus(t *testing.T) {
	const ready, atIt, stuck = "Ready", "Reconciling", "Stalled"
	for name, test := range map[string]struct {
		facts   Facts
		state   string
		reason  string
		names   []string
		invalid bool
		isError bool
		kstatus status.Status
	}{
		"everything as it should be": {
			facts: Facts{Decision: decided(planned("cart", plan.None), planned("shop", plan.None))},
			state: ready, reason: meta.ReasonUpToDate, names: []string{"2 of 2"}, kstatus: status.CurrentStatus,
		},
		"nothing matches": {
			facts: Facts{Decision: decided()},
			state: ready, reason: meta.ReasonNoMatch, names: []string{"selector"}, kstatus: status.CurrentStatus,
		},
		"switched off": {
			facts: Facts{Sidecar: sidecar(disabled), Decision: &decision.Decision{Matched: 1}},
			state: ready, reason: meta.ReasonDisabled, names: []string{"spec.enabled"}, kstatus: status.CurrentStatus,
		},
		"just written": {
			facts: Facts{Decision: decided(planned("cart", plan.Inject)), Changed: true},
			state: atIt, reason: meta.ReasonRollingOut, names: []string{"1 of 1", "Deployment shop/cart"}, kstatus: status.InProgressStatus,
		},
		"written and rolling out": {
			facts: Facts{Decision: decided(planned("cart", plan.None, rollout(workload.RolloutProgressing)), planned("shop", plan.None))},
			state: atIt, reason: meta.ReasonRollingOut, names: []string{"1 of 2", "Deployment shop/cart"}, kstatus: status.InProgressStatus,
		},
		"waiting for its turn": {
			facts: Facts{Decision: decided(planned("cart", plan.Update, func(p *plan.Plan) {
				*p = p.WithBlock(&plan.Block{Kind: plan.BlockedBySlot, Reason: meta.ReasonWaitingForSlot, Message: "later"})
			}))},
			state: atIt, reason: meta.ReasonWaitingForSlot, names: []string{"Deployment shop/cart: later"}, kstatus: status.InProgressStatus,
		},
		"being removed": {
			facts: Facts{Decision: decided(planned("cart", plan.Remove, nothingWanted))},
			state: atIt, reason: meta.ReasonRemoving, names: []string{"Deployment shop/cart"}, kstatus: status.InProgressStatus,
		},
		"the last good templates in use": {
			facts: Facts{Decision: outdated(planned("cart", plan.None))},
			state: stuck, reason: meta.ReasonInvalidTemplateSet, names: []string{"podtemplate.yaml:3"}, invalid: true, isError: true, kstatus: status.FailedStatus,
		},
		"the last good templates, and a refused write": {
			facts: Facts{Decision: outdated(planned("cart", plan.Inject)), Results: failure(true)},
			state: stuck, reason: meta.ReasonConflict, names: []string{"applying to Deployment shop/cart"}, invalid: true, isError: true, kstatus: status.FailedStatus,
		},
		"a rollout that failed": {
			facts: Facts{Decision: decided(planned("cart", plan.None, rollout(workload.RolloutFailed), fails(meta.ReasonRolloutFailed, "its progress deadline")))},
			state: stuck, reason: meta.ReasonRolloutFailed, names: []string{"progress deadline", "Deployment shop/cart"}, isError: true, kstatus: status.FailedStatus,
		},
		"a sidecar that broke a rollout": {
			facts: Facts{Decision: decided(planned("cart", plan.None, rollout(workload.RolloutUnavailable), inFlight, fails(meta.ReasonOOMKilled, "container vector")), planned("shop", plan.Inject))},
			state: stuck, reason: meta.ReasonRolloutFailed, names: []string{"1 of 2", "Deployment shop/cart: container vector"}, isError: true, kstatus: status.FailedStatus,
		},
		"pods that are refused": {
			facts: Facts{Decision: decided(planned("cart", plan.None, rollout(workload.RolloutProgressing), inFlight, hinders(meta.ReasonPodsRejected, "quota")), planned("shop", plan.None))},
			state: atIt, reason: meta.ReasonPodsRejected, names: []string{"1 of 2 Deployments have pods that do not run", "Deployment shop/cart: quota"}, isError: true, kstatus: status.InProgressStatus,
		},
		"pods that crash with a halted revision": {
			facts: Facts{Decision: decided(planned("cart", plan.None, hinders(meta.ReasonCrashLoopBackOff, "exited with code 1"))), Rollout: halted("1", "1")},
			state: stuck, reason: meta.ReasonCrashLoopBackOff, names: []string{"Deployment shop/cart: exited with code 1"}, isError: true, kstatus: status.FailedStatus,
		},
		"pods that crash before a halted revision": {
			facts: Facts{Decision: decided(planned("cart", plan.None, hinders(meta.ReasonCrashLoopBackOff, "exited with code 1"))), Rollout: halted("1", "")},
			state: atIt, reason: meta.ReasonCrashLoopBackOff, names: []string{"Deployment shop/cart: exited with code 1"}, isError: true, kstatus: status.InProgressStatus,
		},
		"a soak": {
			facts: Facts{Decision: decided(planned("cart", plan.None, inFlight, because(meta.ReasonSoaking, "30s")), planned("shop", plan.None))},
			state: atIt, reason: meta.ReasonSoaking, names: []string{"1 of 2 Deployments are soaking after their rollout (spec.rollout.soak): Deployment shop/cart"}, kstatus: status.InProgressStatus,
		},
		"pods that are lost long after": {
			facts: Facts{Decision: decided(planned("cart", plan.None, rollout(workload.RolloutUnavailable), because(meta.ReasonUnavailable, "not all")))},
			state: atIt, reason: meta.ReasonUnavailable, names: []string{"1 of 1 Deployments have lost pods: Deployment shop/cart: not all"}, kstatus: status.InProgressStatus,
		},
		"on the way back from its own spec": {
			facts: Facts{Decision: decided(planned("cart", plan.None, rollout(workload.RolloutProgressing))), SpecStatus: gone()},
			state: atIt, reason: meta.ReasonRollingOut, names: []string{"; the spec of generation 3 (digest bad) failed in 2 workloads"}, kstatus: status.InProgressStatus,
		},
		"back from its own spec": {
			facts: Facts{Decision: decided(planned("cart", plan.None)), SpecStatus: gone()},
			state: stuck, reason: meta.ReasonReverted, isError: true, kstatus: status.FailedStatus,
			names: []string{"the workloads run the spec of generation 1", "kubectl vectorsidecar rollout retry vectorsidecar/logs; 1 of 1 Deployments run the current sidecar"},
		},
		"a way back that fails": {
			facts: Facts{Decision: decided(planned("cart", plan.None, rollout(workload.RolloutFailed), fails(meta.ReasonRolloutFailed, "late"))), SpecStatus: gone()},
			state: stuck, reason: meta.ReasonRolloutFailed, names: []string{"Deployment shop/cart: late; the spec of generation 3"}, isError: true, kstatus: status.FailedStatus,
		},
		"a spec too large to go back to": {
			facts: Facts{Decision: decided(planned("cart", plan.None)), SpecStatus: lastgood.SpecStatus{IsTooLarge: true}},
			state: ready, reason: meta.ReasonUpToDate, names: []string{"the spec has more than 256 KiB"}, kstatus: status.CurrentStatus,
		},
		"a ConfigMap that has to wait": {
			facts: Facts{Decision: changedMeanwhile(planned("cart", plan.None, rollout(workload.RolloutProgressing)))},
			state: atIt, reason: meta.ReasonRollingOut, names: []string{"ConfigMap pipeline has changed", "workloads get the new content after this rollout"}, kstatus: status.InProgressStatus,
		},
		"a conflict": {
			facts: Facts{Decision: decided(planned("cart", plan.None, stops(plan.BlockedByConflict, meta.ReasonConflict, "taken")))},
			state: stuck, reason: meta.ReasonConflict, names: []string{"Deployment shop/cart: taken"}, isError: true, kstatus: status.FailedStatus,
		},
		"a workload that cannot take it": {
			facts: Facts{Decision: decided(planned("cart", plan.None, stops(plan.BlockedByObstacle, meta.ReasonBlocked, "no volume")), planned("shop", plan.Inject))},
			state: stuck, reason: meta.ReasonBlocked, names: []string{"1 of 2", "no volume"}, isError: true, kstatus: status.FailedStatus,
		},
		"a workload that opts out": {
			facts: Facts{Decision: decided(planned("cart", plan.None, nothingWanted, stops(plan.BlockedByOptOut, meta.ReasonOptedOut, "no")), planned("shop", plan.None))},
			state: ready, reason: meta.ReasonUpToDate, names: []string{"1 of 2", "1 skipped"}, kstatus: status.CurrentStatus,
		},
		"bad input": {
			facts: Facts{Decision: invalid()},
			state: stuck, reason: meta.ReasonInvalidValues, names: []string{"values.yaml:3"}, invalid: true, isError: true, kstatus: status.FailedStatus,
		},
		"a write that is refused": {
			facts: Facts{Decision: decided(planned("cart", plan.Inject)), Results: failure(true)},
			state: stuck, reason: meta.ReasonConflict, names: []string{"Deployment shop/cart"}, isError: true, kstatus: status.FailedStatus,
		},
		"a write that is tried again": {
			facts: Facts{Decision: decided(planned("cart", plan.Inject)), Results: failure(false)},
			state: atIt, reason: meta.ReasonConflict, names: []string{"Deployment shop/cart"}, isError: true, kstatus: status.InProgressStatus,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if test.facts.Sidecar == nil {
				test.facts.Sidecar = sidecar()
			}
			got := NewSidecarStatus(test.facts, noon)

			condition := apimeta.FindStatusCondition(got.Conditions, meta.ConditionReady)
			require.NotNil(t, condition)
			require.Equal(t, test.state == ready, condition.Status == metav1.ConditionTrue)
			require.Equal(t, test.reason, condition.Reason)
			for _, part := range test.names {
				require.Contains(t, condition.Message, part)
			}
			require.Equal(t, test.state == atIt, apimeta.FindStatusCondition(got.Conditions, meta.ConditionReconciling) != nil)
			require.Equal(t, test.state == stuck, apimeta.FindStatusCondition(got.Conditions, meta.ConditionStalled) != nil)
			require.Equal(t, test.isError, apimeta.IsStatusConditionTrue(got.Conditions, meta.ConditionError))
			require.Equal(t, !test.invalid, apimeta.IsStatusConditionTrue(got.Conditions, meta.ConditionConfigValid))
			require.Equal(t, test.kstatus, kstatusOf(t, test.facts.Sidecar, &got))
			requireWholeConditions(t, got.Conditions)
		})
	}
}

func kstatusOf(t *testing.T, of *v1alpha1.VectorSidecar, got *v1alpha1.VectorSidecarStatus) status.Status {
	t.Helper()
	object := of.DeepCopy()
	object.Status = *got
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	require.NoError(t, err)
	return healthOf(t, &unstructured.Unstructured{Object: content})
}

// requireWholeConditions checks conditions against the CRD's schema.
func requireWholeConditions(t *testing.T, conditions []metav1.Condition) {
	t.Helper()
	for _, c := range conditions {
		require.NotEmpty(t, c.Reason, c.Type)
		require.NotEmpty(t, c.Message, c.Type)
		require.EqualValues(t, 3, c.ObservedGeneration, c.Type)
		require.Equal(t, noon, c.LastTransitionTime, c.Type)
	}
}

func TestNewSidecarStatus_ReportsNewGenerationInProgress(t *testing.T) {
	vs := sidecar()
	got := NewSidecarStatus(Facts{Sidecar: vs, Decision: decided(planned("cart", plan.None))}, noon)
	vs.Generation++

	require.Equal(t, status.InProgressStatus, kstatusOf(t, vs, &got))
}

func TestNewSidecarStatus_KeepsTimeOfUnchangedCondition(t *testing.T) {
	facts := Facts{Sidecar: sidecar(), Decision: decided(planned("cart", plan.None))}
	facts.Sidecar.Status = NewSidecarStatus(facts, noon)
	require.Equal(t, &noon, facts.Sidecar.Status.LastReconcileTime)

	same := NewSidecarStatus(facts, later)
	require.Equal(t, facts.Sidecar.Status, same, "a pass that changes nothing writes nothing")

	facts.Changed = true
	require.Equal(t, &later, NewSidecarStatus(facts, later).LastReconcileTime, "a workload was written")

	facts.Changed = false
	facts.Decision = decided(planned("cart", plan.None, rollout(workload.RolloutProgressing)))
	moved := NewSidecarStatus(facts, later)
	require.Equal(t, &later, moved.LastReconcileTime, "the status says something else")
	require.Equal(t, later, apimeta.FindStatusCondition(moved.Conditions, meta.ConditionReady).LastTransitionTime)
	require.Equal(t, noon, apimeta.FindStatusCondition(moved.Conditions, meta.ConditionConfigValid).LastTransitionTime)
}

// A changed last known good spec alone, for example after an upgrade, causes no status write. It is written with the
// next other change.
func TestNewSidecarStatus_DelaysLastKnownGoodSpec(t *testing.T) {
	facts := Facts{Sidecar: sidecar(), Decision: decided(planned("cart", plan.None))}
	facts.Sidecar.Status = NewSidecarStatus(facts, noon)
	facts.SpecStatus.LastGood = gone().LastGood
	require.Equal(t, facts.Sidecar.Status, NewSidecarStatus(facts, later))

	facts.ReconcileRequest = "somebody"
	asked := NewSidecarStatus(facts, later)
	require.Equal(t, gone().LastGood, asked.LastKnownGood, "it goes with any other change")
	facts.Sidecar.Status, facts.SpecStatus = asked, lastgood.SpecStatus{}
	require.Equal(t, asked, NewSidecarStatus(facts, later), "and so it goes away")
}

func TestNewSidecarStatus_CountsEachWorkloadOnce(t *testing.T) {
	facts := Facts{Sidecar: sidecar(), Decision: decided(
		planned("current", plan.None),
		planned("rolling", plan.None, rollout(workload.RolloutProgressing)),
		planned("written", plan.Inject),
		planned("soaking", plan.None, inFlight),
		planned("hindered", plan.None, rollout(workload.RolloutProgressing), hinders(meta.ReasonUnschedulable, "no node")),
		planned("unavailable", plan.None, rollout(workload.RolloutUnavailable)),
		planned("failed", plan.None, rollout(workload.RolloutFailed), fails(meta.ReasonRolloutFailed, "late")),
		planned("waiting", plan.Update, func(p *plan.Plan) {
			*p = p.WithBlock(&plan.Block{Kind: plan.BlockedBySlot, Reason: meta.ReasonWaitingForSlot, Message: "later"})
		}),
		planned("conflict", plan.None, nothingWanted, stops(plan.BlockedByConflict, meta.ReasonConflict, "taken")),
		planned("refused", plan.Inject),
		planned("skipped", plan.None, nothingWanted, stops(plan.BlockedByOptOut, meta.ReasonOptedOut, "no")),
	), Results: decision.Results{{Object: "Deployment shop/refused", Reason: meta.ReasonApplyRejected, Err: errors.New("too large"), IsPermanent: true}}}

	got := NewSidecarStatus(facts, noon)

	require.EqualValues(t, 11, got.MatchedDeployments)
	require.EqualValues(t, 7, got.InjectedDeployments, "current, rolling, written, soaking, hindered, unavailable and failed carry it")
	require.EqualValues(t, 1, got.Total().Ready)
	require.EqualValues(t, 1, got.Total().Waiting)
	require.EqualValues(t, 2, got.Total().Conflicting, "a conflict and a refusal")
	require.EqualValues(t, 1, got.Total().Skipped)
	require.EqualValues(t, 1, got.Total().Failed)
	require.Equal(t, "staging", got.Environment)
	require.EqualValues(t, 3, got.ObservedGeneration)

	var listedPhases []string
	for _, entry := range got.Workloads {
		listedPhases = append(listedPhases, entry.Name)
	}
	require.Equal(t, []string{"failed", "hindered", "refused", "conflict", "rolling", "written", "soaking", "unavailable", "waiting", "skipped"}, listedPhases)
	require.Zero(t, got.WorkloadsOmitted)
}

// The status contains the hash of the sidecar if all workloads have the same one.
func TestNewSidecarStatus_ReportsCommonHash(t *testing.T) {
	another := func(p *plan.Plan) { p.Desired = wanting("other") }

	one := NewSidecarStatus(Facts{Sidecar: sidecar(), Decision: decided(planned("cart", plan.None), planned("shop", plan.Inject))}, noon)
	two := NewSidecarStatus(Facts{Sidecar: sidecar(), Decision: decided(planned("cart", plan.None), planned("shop", plan.None, another))}, noon)
	none := NewSidecarStatus(Facts{Sidecar: sidecar(), Decision: decided(planned("cart", plan.None, stops(plan.BlockedByConflict, meta.ReasonConflict, "x")))}, noon)

	require.Equal(t, wanting("h").InjectedHash(), one.InjectedHash)
	require.Empty(t, two.InjectedHash)
	require.Empty(t, none.InjectedHash)
}

// A workload keeps the rendering of an earlier release. The status counts it as up to date.
func TestNewSidecarStatus_CountsEarlierRenderingAsCurrent(t *testing.T) {
	keeps := func(p *plan.Plan) { p.Existing.UnchangedHash = "older" }

	got := NewSidecarStatus(Facts{Sidecar: sidecar(), Decision: decided(planned("cart", plan.None, keeps), planned("shop", plan.None, keeps))}, noon)

	require.EqualValues(t, 2, got.Total().Ready)
	require.Equal(t, "older", got.InjectedHash)
	require.Empty(t, got.Workloads)
	ready := apimeta.FindStatusCondition(got.Conditions, meta.ConditionReady)
	require.Equal(t, metav1.ConditionTrue, ready.Status)
	require.Contains(t, ready.Message, "2 of 2 Deployments run the current sidecar, 2 have a sidecar rendered by an earlier release")
}

// A write that changes only annotations is not reported. The workload counts as ready.
func TestNewSidecarStatus_CountsRecordOnlyWriteAsReady(t *testing.T) {
	got := NewSidecarStatus(Facts{Sidecar: sidecar(), Decision: decided(planned("cart", plan.RecordOnly), planned("shop", plan.None))}, noon)
	require.EqualValues(t, 2, got.Total().Ready)
	require.Empty(t, got.Workloads)
	require.Equal(t, wanting("h").InjectedHash(), got.InjectedHash)
}

// A status lists a limited number of workloads, with shortened messages.
func TestNewSidecarStatus_LimitsSize(t *testing.T) {
	var plans []plan.Plan
	for i := range 3000 {
		plans = append(plans, planned(fmt.Sprintf("w%04d", i), plan.None, stops(plan.BlockedByConflict, meta.ReasonConflict, strings.Repeat("ä", 5000))))
	}

	got := NewSidecarStatus(Facts{Sidecar: sidecar(), Decision: decided(plans...)}, noon)

	require.Len(t, got.Workloads, maxListed)
	require.EqualValues(t, 3000-maxListed, got.WorkloadsOmitted)
	for _, entry := range got.Workloads {
		require.Less(t, len(entry.Message), 600)
	}
	for _, c := range got.Conditions {
		require.Less(t, len(c.Message), 32768, "the API server takes no more")
		require.Equal(t, strings.ToValidUTF8(c.Message, "?"), c.Message)
	}
}

// Workloads that need attention are listed before those that wait because of them.
func TestNewSidecarStatus_ListsWaitingWorkloadsLast(t *testing.T) {
	var plans []plan.Plan
	for i := range 3 * maxListed {
		plans = append(plans, planned(fmt.Sprintf("w%02d", i), plan.Inject, func(p *plan.Plan) {
			*p = p.WithBlock(&plan.Block{Kind: plan.BlockedByFailure, Reason: meta.ReasonRolloutFailed, Message: "later"})
		}))
	}
	plans = append(plans, planned("z", plan.None, fails(meta.ReasonRolloutFailed, "late")))

	got := NewSidecarStatus(Facts{Sidecar: sidecar(), Decision: decided(plans...)}, noon)

	require.Equal(t, "z", got.Workloads[0].Name)
	require.Equal(t, "w00", got.Workloads[1].Name)
	require.Len(t, got.Workloads, maxListed)
	require.EqualValues(t, 2*maxListed+1, got.WorkloadsOmitted)
}

func TestNewSidecarStatus_RemovesOutdatedConditions(t *testing.T) {
	vs := sidecar()
	vs.Status = NewSidecarStatus(Facts{Sidecar: vs, Decision: invalid()}, noon)
	require.NotNil(t, apimeta.FindStatusCondition(vs.Status.Conditions, meta.ConditionStalled))

	got := NewSidecarStatus(Facts{Sidecar: vs, Decision: decided(planned("cart", plan.None))}, later)

	require.Nil(t, apimeta.FindStatusCondition(got.Conditions, meta.ConditionStalled))
	require.True(t, apimeta.IsStatusConditionFalse(got.Conditions, meta.ConditionError))
	require.True(t, apimeta.IsStatusConditionTrue(got.Conditions, meta.ConditionConfigValid))
}
