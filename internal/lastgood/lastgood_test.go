// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package lastgood

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

var now = time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)

// done is what a pass sees when all is done, failing when a workload has failed.
func done() *Observation {
	return &Observation{Progress: fleet.Progress{IsDone: true}, OnFailure: v1alpha1.OnFailureRevert, IsCausedBySpec: true, IsFullyRolledOut: true}
}

func failing() *Observation {
	seen := done()
	seen.IsDone, seen.Failed = false, 2
	return seen
}

func withImage(image string, generation int64) *v1alpha1.VectorSidecar {
	return &v1alpha1.VectorSidecar{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "logs", Generation: generation},
		Spec: v1alpha1.VectorSidecarSpec{
			Environment: "staging", TemplateSet: "edge", Sidecar: &v1alpha1.SidecarSpec{Image: image},
			InitContainers: []corev1.Container{{Name: "wait"}}, Volumes: []corev1.Volume{{Name: "keys"}},
			Values: &apiextensionsv1.JSON{Raw: []byte(`{"a":{"b":null},"image":"` + image + `"}`)},
		},
	}
}

// change gives it another image, as its owner does.
func change(sidecar *v1alpha1.VectorSidecar, image string) {
	sidecar.Generation++
	sidecar.Spec = withImage(image, 0).Spec
}

func keep(sidecar *v1alpha1.VectorSidecar, seen *Observation) {
	kept := NextSpecStatus(sidecar, seen)
	sidecar.Status.LastKnownGood, sidecar.Status.Reverted = kept.LastGood, kept.Reverted
}

// goneBack has had good, and failed with bad.
func goneBack(t *testing.T) *v1alpha1.VectorSidecar {
	t.Helper()
	sidecar := withImage("good", 1)
	keep(sidecar, done())
	change(sidecar, "bad")
	sidecar.Status.Reverted = Revert(sidecar, failing(), now)
	require.NotNil(t, sidecar.Status.Reverted)
	return sidecar
}

// All fields that are rendered return to the last known good spec. The other fields keep their current values.
func TestRevert_RevertsToLastKnownGoodSpec(t *testing.T) {
	sidecar := goneBack(t)
	require.Equal(t, &v1alpha1.RevertedSpec{Digest: Digest(&sidecar.Spec), Generation: 2, FailedWorkloads: 2, RevertTime: metav1.NewTime(now)}, sidecar.Status.Reverted)
	limit := int64(7)
	sidecar.Spec.Selector.MatchLabels, sidecar.Spec.Rollout = map[string]string{"logs": "vector"}, &v1alpha1.RolloutSpec{MaxAge: &metav1.Duration{Duration: time.Duration(limit)}}

	is := EffectiveSidecar(sidecar)
	want := withImage("good", 0).Spec
	want.Selector, want.Rollout = sidecar.Spec.Selector, sidecar.Spec.Rollout
	require.Equal(t, want, is.Spec, "all that is rendered is as it was, nulls too, and all else as it is")
	require.Equal(t, "bad", sidecar.Spec.Sidecar.Image, "the spec itself stays")
	require.Equal(t, int64(-2), Generation(sidecar))
	require.Contains(t, RevertMessage(sidecar), "the spec of generation 2")

	require.Nil(t, Revert(sidecar, failing(), now), "what fails on the way back goes back no further")
	keep(sidecar, done())
	require.Equal(t, "good", EffectiveSidecar(sidecar).Spec.Sidecar.Image, "nor is it another good one when all are back")
	require.Equal(t, "bad", EffectiveSidecar(IgnoreRevert(sidecar)).Spec.Sidecar.Image)
}

// While a spec is reverted, the last known good one is used, until the spec changes or a user requests a retry.
func TestEffectiveSidecar_EndsRevertAfterSpecChangeOrRetry(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*v1alpha1.VectorSidecar)
		isOver bool
	}{
		"nothing":  {func(*v1alpha1.VectorSidecar) {}, false},
		"its pace": {func(v *v1alpha1.VectorSidecar) { v.Generation++; v.Spec.Rollout = &v1alpha1.RolloutSpec{Paused: true} }, false},
		"no Revert": {func(v *v1alpha1.VectorSidecar) {
			v.Spec.Rollout = &v1alpha1.RolloutSpec{OnFailure: v1alpha1.OnFailureHalt}
		}, false},
		"another image":    {func(v *v1alpha1.VectorSidecar) { change(v, "better") }, true},
		"the one before":   {func(v *v1alpha1.VectorSidecar) { change(v, "good") }, true},
		"a person":         {func(v *v1alpha1.VectorSidecar) { v.Annotations = map[string]string{meta.AnnotationRetryRollout: "now"} }, true},
		"a status by hand": {func(v *v1alpha1.VectorSidecar) { v.Status.LastKnownGood = nil }, true},
		"another namespace of a ClusterVectorSidecar": {func(v *v1alpha1.VectorSidecar) { v.Namespace = "other" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			sidecar := goneBack(t)
			test.change(sidecar)
			require.Equal(t, test.isOver, activeRevert(sidecar) == nil)
			require.Equal(t, test.isOver, EffectiveSidecar(sidecar) == sidecar)
			require.Equal(t, test.isOver, NextSpecStatus(sidecar, failing()).Reverted == nil)
		})
	}
}

// A user can retry a reverted spec once. If it fails again, it is reverted again.
func TestRevert_RevertsAgainAfterFailedRetry(t *testing.T) {
	sidecar := goneBack(t)
	sidecar.Annotations = map[string]string{meta.AnnotationRetryRollout: "now"}
	again := Revert(sidecar, failing(), now)
	require.NotNil(t, again)
	keep(sidecar, failing())
	sidecar.Status.Reverted = again
	require.Equal(t, "good", EffectiveSidecar(sidecar).Spec.Sidecar.Image)
}

// Nothing is reverted unless onFailure is Revert, the spec has failed, and there is a last known good spec.
func TestRevert_RequiresFailureAndLastKnownGood(t *testing.T) {
	for name, do := range map[string]func(*v1alpha1.VectorSidecar, *Observation){
		"no Revert":                func(_ *v1alpha1.VectorSidecar, s *Observation) { s.OnFailure = v1alpha1.OnFailureHalt },
		"nothing has failed":       func(_ *v1alpha1.VectorSidecar, s *Observation) { s.Failed = 0 },
		"the installation's fault": func(_ *v1alpha1.VectorSidecar, s *Observation) { s.IsCausedBySpec = false },
		"the first spec":           func(v *v1alpha1.VectorSidecar, _ *Observation) { v.Status.LastKnownGood = nil },
		"the good one":             func(v *v1alpha1.VectorSidecar, _ *Observation) { change(v, "good") },
		"disabled":                 func(v *v1alpha1.VectorSidecar, _ *Observation) { v.Spec.Enabled = new(bool) },
		"deleted":                  func(v *v1alpha1.VectorSidecar, _ *Observation) { v.DeletionTimestamp = &metav1.Time{Time: now} },
		"a namespace that had failed before, too": func(v *v1alpha1.VectorSidecar, _ *Observation) {
			v.Status.LastKnownGood.Failing = []string{"pay", "shop"}
		},
		"a status that somebody wrote": func(v *v1alpha1.VectorSidecar, _ *Observation) { v.Status.LastKnownGood.Spec = "{" },
		"a bomb that somebody wrote there": func(v *v1alpha1.VectorSidecar, _ *Observation) {
			v.Status.LastKnownGood.Spec = `{"volumes":[` + strings.Repeat("{},", 200_000) + "{}]}"
		},
	} {
		t.Run(name, func(t *testing.T) {
			sidecar := withImage("good", 1)
			keep(sidecar, done())
			change(sidecar, "bad")
			seen := failing()
			do(sidecar, seen)
			require.Nil(t, Revert(sidecar, seen, now))
		})
	}
}

// A spec is stored as the last known good one after all workloads have finished it.
func TestNextSpecStatus_StoresOnlyFinishedSpecs(t *testing.T) {
	for name, test := range map[string]struct {
		do   func(*v1alpha1.VectorSidecar, *Observation)
		want string
	}{
		"done":                   {func(*v1alpha1.VectorSidecar, *Observation) {}, "new"},
		"on its way":             {func(_ *v1alpha1.VectorSidecar, s *Observation) { s.IsDone = false }, "old"},
		"paused":                 {func(_ *v1alpha1.VectorSidecar, s *Observation) { s.IsPaused = true }, "old"},
		"failed":                 {func(_ *v1alpha1.VectorSidecar, s *Observation) { s.Failed = 1 }, "old"},
		"nowhere, or not at all": {func(_ *v1alpha1.VectorSidecar, s *Observation) { s.IsFullyRolledOut = false }, "old"},
		"disabled":               {func(v *v1alpha1.VectorSidecar, _ *Observation) { v.Spec.Enabled = new(bool) }, "old"},
		"no Revert":              {func(_ *v1alpha1.VectorSidecar, s *Observation) { s.OnFailure = v1alpha1.OnFailureHalt }, ""},
		"too large": {func(v *v1alpha1.VectorSidecar, _ *Observation) {
			v.Spec.Sidecar.Config = &v1alpha1.ConfigSpec{Inline: strings.Repeat("x", MostBytes)}
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			sidecar, seen := withImage("old", 1), done()
			keep(sidecar, seen)
			change(sidecar, "new")
			test.do(sidecar, seen)
			kept := NextSpecStatus(sidecar, seen)
			require.Equal(t, name == "too large", kept.IsTooLarge)
			if test.want == "" {
				require.Nil(t, kept.LastGood)
				return
			}
			require.Contains(t, kept.LastGood.Spec, `"image":"`+test.want+`"`)
		})
	}
	sidecar := withImage("old", 1)
	keep(sidecar, done())
	sidecar.Generation = 5
	require.Same(t, sidecar.Status.LastKnownGood, NextSpecStatus(sidecar, done()).LastGood, "the same stays as it was noted")
}

// The digest of a spec changes with each field that is rendered, and not with the selector or the rollout settings.
func TestDigest_ChangesWithRenderedFieldsOnly(t *testing.T) {
	one, other := withImage("a", 1), withImage("a", 2)
	other.Spec.Selector.MatchLabels, other.Spec.Rollout = map[string]string{"a": "b"}, &v1alpha1.RolloutSpec{Paused: true}
	other.Spec.DriftPolicy, other.Spec.Workloads = v1alpha1.DriftReport, []v1alpha1.WorkloadKind{"Job"}
	require.Equal(t, Digest(&one.Spec), Digest(&other.Spec))
	for name, do := range map[string]func(*v1alpha1.VectorSidecarSpec){
		"environment":    func(s *v1alpha1.VectorSidecarSpec) { s.Environment = "" },
		"templateSet":    func(s *v1alpha1.VectorSidecarSpec) { s.TemplateSet = "" },
		"sidecar":        func(s *v1alpha1.VectorSidecarSpec) { s.Sidecar = nil },
		"initContainers": func(s *v1alpha1.VectorSidecarSpec) { s.InitContainers = nil },
		"volumes":        func(s *v1alpha1.VectorSidecarSpec) { s.Volumes = nil },
		"values":         func(s *v1alpha1.VectorSidecarSpec) { s.Values = nil },
	} {
		changed := withImage("a", 1)
		do(&changed.Spec)
		require.NotEqual(t, Digest(&one.Spec), Digest(&changed.Spec), name)
	}
}
