// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package lastgood

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// wide is what a ClusterVectorSidecar is in no particular namespace.
func wide(image string, generation int64) *v1alpha1.VectorSidecar {
	made := withImage(image, generation)
	made.Namespace, made.Name, made.UID = "", meta.ClusterSidecarName("logs"), "u"
	return made
}

// settledIn is a namespace that is done, and troubledIn one where writes have failed since a time.
func settledIn(sidecar *v1alpha1.VectorSidecar) *NamespaceReport {
	return &NamespaceReport{Attempt: NewAttempt(sidecar), IsSettled: true, IsRunning: true}
}

func troubledIn(sidecar *v1alpha1.VectorSidecar, since time.Time) *NamespaceReport {
	part := &NamespaceReport{Attempt: NewAttempt(sidecar), IsRetrying: true}
	part.CopyTimes(nil, sidecar, since)
	return part
}

// sum adds up namespaces a and b.
func sum(sidecar *v1alpha1.VectorSidecar, a, b *NamespaceReport) Observation {
	seen, _ := SumReports(sidecar, map[string]*NamespaceReport{"a": a, "b": b}, now)
	seen.OnFailure = v1alpha1.OnFailureRevert
	return seen
}

// The spec of a ClusterVectorSidecar is stored as the last known good one after it has finished in all namespaces.
func TestNextSpecStatus_WaitsForAllNamespaces(t *testing.T) {
	sidecar := wide("new", 2)
	with := func(change func(*NamespaceReport)) *NamespaceReport {
		part := settledIn(sidecar)
		change(part)
		return part
	}
	for name, test := range map[string]struct {
		a, b *NamespaceReport
		want bool
	}{
		"both are done":                      {settledIn(sidecar), settledIn(sidecar), true},
		"one has no workload":                {settledIn(sidecar), with(func(p *NamespaceReport) { p.IsRunning = false }), true},
		"none runs it":                       {with(func(p *NamespaceReport) { p.IsRunning = false }), with(func(p *NamespaceReport) { p.IsRunning = false }), false},
		"one rolls out":                      {settledIn(sidecar), with(func(p *NamespaceReport) { p.IsSettled = false }), false},
		"of one nothing is known":            {settledIn(sidecar), nil, false},
		"one has seen the spec before":       {settledIn(sidecar), settledIn(wide("old", 1)), false},
		"one has seen it before the retry":   {settledIn(sidecar), with(func(p *NamespaceReport) { p.Retry = "before" }), false},
		"one has seen another of the name":   {settledIn(sidecar), with(func(p *NamespaceReport) { p.UID = "before" }), false},
		"one gets it later":                  {settledIn(sidecar), with(func(p *NamespaceReport) { p.IsDeferred = true }), false},
		"one is paused":                      {settledIn(sidecar), with(func(p *NamespaceReport) { p.IsPaused = true }), false},
		"one is in trouble for a moment":     {settledIn(sidecar), troubledIn(sidecar, now.Add(-time.Minute)), false},
		"one is in trouble for long":         {settledIn(sidecar), troubledIn(sidecar, now.Add(-patience)), true},
		"one has failed":                     {settledIn(sidecar), with(func(p *NamespaceReport) { p.Failed = 1; p.CopyTimes(nil, sidecar, now) }), true},
		"one has failed, and none else runs": {with(func(p *NamespaceReport) { p.IsRunning = false }), with(func(p *NamespaceReport) { p.IsRunning, p.Failed = false, 1 }), false},
	} {
		t.Run(name, func(t *testing.T) {
			seen := sum(sidecar, test.a, test.b)
			require.Equal(t, test.want, NextSpecStatus(sidecar, &seen).LastGood != nil)
		})
	}
}

// A namespace fails with each spec. It does not prevent that a spec is stored as the last known good one, and causes no
// revert. The status names it, so that it is known after a restart.
func TestNextSpecStatus_ListsNamespacesThatAlwaysFail(t *testing.T) {
	sidecar := wide("good", 1)
	fails := settledIn(sidecar)
	fails.Failed = 2
	fails.CopyTimes(nil, sidecar, now.Add(-time.Hour))
	seen := sum(sidecar, settledIn(sidecar), fails)
	require.Empty(t, NextSpecStatus(sidecar, &seen).LastGood.Failing, "it has not been seen to fail for long")
	fails.CopyTimes(nil, sidecar, now)
	seen = sum(sidecar, settledIn(sidecar), fails)
	keep(sidecar, &seen)
	require.Equal(t, []string{"b"}, sidecar.Status.LastKnownGood.Failing)

	runs := settledIn(sidecar)
	runs.CopyTimes(fails, sidecar, now)
	seen = sum(sidecar, settledIn(sidecar), runs)
	require.Equal(t, []string{"b"}, NextSpecStatus(sidecar, &seen).LastGood.Failing, "a crash loop runs for a moment")
	sidecar.Namespace = "b"
	restarted := settledIn(sidecar)
	restarted.CopyTimes(nil, sidecar, now)
	sidecar.Namespace = ""
	seen = sum(sidecar, nil, restarted)
	require.Equal(t, []string{"b"}, NextSpecStatus(sidecar, &seen).LastGood.Failing, "also after a restart")
	seen = sum(sidecar, settledIn(sidecar), nil)
	require.Equal(t, []string{"b"}, NextSpecStatus(sidecar, &seen).LastGood.Failing, "or as long as nobody has looked")
	seen = sum(sidecar, settledIn(sidecar), settledIn(sidecar))
	require.Empty(t, NextSpecStatus(sidecar, &seen).LastGood.Failing, "until it is well")

	sidecar.Generation, sidecar.Spec = 2, wide("bad", 2).Spec
	seen = sum(sidecar, settledIn(sidecar), nil)
	require.Equal(t, []string{"b"}, NextSpecStatus(sidecar, &seen).LastGood.Failing, "what fails with the next spec is not noted there")
	for namespace, isBack := range map[string]bool{"a": true, "b": false} {
		sidecar.Namespace = namespace
		require.Equal(t, isBack, Revert(sidecar, failing(), now) != nil, namespace)
	}
}

// If too many namespaces fail, the spec is not stored as the last known good one.
func TestNextSpecStatus_RejectsSpecFailingTooOften(t *testing.T) {
	sidecar, parts := wide("new", 1), map[string]*NamespaceReport{"well": nil}
	parts["well"] = settledIn(sidecar)
	for n := range mostFailing + 1 {
		part := settledIn(sidecar)
		part.Failed = 1
		part.CopyTimes(nil, sidecar, now)
		parts[fmt.Sprintf("n-%03d", n)] = part
	}
	kept := func() *v1alpha1.LastKnownGoodSpec {
		seen, _ := SumReports(sidecar, parts, now)
		seen.OnFailure = v1alpha1.OnFailureRevert
		return NextSpecStatus(sidecar, &seen).LastGood
	}
	require.Nil(t, kept())
	delete(parts, "n-000")
	sidecar.Status.LastKnownGood = kept()
	require.Len(t, sidecar.Status.LastKnownGood.Failing, mostFailing)
	parts["n-000"] = parts["n-001"]
	require.Len(t, kept().Failing, mostFailing, "a good one stays, with the names that it has")
}

// A namespace keeps failing with the same error. The next spec does not wait for it again.
func TestSumReports_WaitsOnlyOnceForFailingNamespaces(t *testing.T) {
	sidecar, next := wide("new", 1), wide("next", 2)
	began := now.Add(-patience + time.Minute)
	trouble := troubledIn(sidecar, began)
	_, until := SumReports(sidecar, map[string]*NamespaceReport{"a": settledIn(sidecar), "b": trouble}, now)
	require.Equal(t, now.Add(time.Minute), until)
	later := &NamespaceReport{Attempt: NewAttempt(next), IsRetrying: true}
	later.CopyTimes(trouble, next, now)
	_, until = SumReports(next, map[string]*NamespaceReport{"a": settledIn(next), "b": later}, now)
	require.Equal(t, now.Add(time.Minute), until, "the next spec waits no longer")
	seen, until := SumReports(next, map[string]*NamespaceReport{"a": settledIn(next), "b": later}, now.Add(time.Minute))
	require.Zero(t, until)
	require.True(t, seen.IsDone)
}

func TestRevertMessage_NamesNamespaceAndRetryCommand(t *testing.T) {
	sidecar := wide("bad", 2)
	sidecar.Status.LastKnownGood = &v1alpha1.LastKnownGoodSpec{Generation: 1}
	sidecar.Status.Reverted = &v1alpha1.RevertedSpec{Digest: Digest(&sidecar.Spec), Generation: 2, FailedWorkloads: 3, Namespace: "shop", RevertTime: metav1.NewTime(now)}
	require.Contains(t, RevertMessage(sidecar), "failed in 3 workloads of namespace shop; the workloads run the spec of generation 1")
	require.Contains(t, RevertMessage(sidecar), "kubectl vectorsidecar rollout retry clustervectorsidecar/logs")
}
