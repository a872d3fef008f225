// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

var address = workload.EnvInjection{Containers: []string{"app"}, Name: "ADDRESS", Value: "{name}:1"}

// tells is the sidecar of the tests, which tells the application.
func tells(all ...workload.EnvInjection) *Desired {
	desired := sidecar()
	overlay := *desired.overlay
	overlay.EnvInjections = all
	told := *desired
	told.overlay = &overlay
	return &told
}

// told is a workload with the sidecar, which was told these values of ADDRESS and NAME.
func told(values ...string) *workload.View {
	record := []workload.InjectedEnv{}
	for i, value := range values {
		record = append(record, workload.InjectedEnv{Container: "app", Name: []string{"ADDRESS", "NAME"}[i], Value: value})
	}
	return with(current(), func(v *workload.View) {
		v.InjectedEnv = []workload.EnvRecord{{Key: meta.AnnotationInjectedEnv(mine), Variables: record}}
	})
}

func TestForInjection_RemovesOutdatedVariables(t *testing.T) {
	for name, test := range map[string]struct {
		desired *Desired
		view    *workload.View
		want    Change
	}{
		"it holds":                     {tells(address), told("cart:1"), None},
		"nothing was told":             {tells(address), current(), None},
		"another value":                {tells(address), told("cart:2"), Update},
		"nothing is to be told":        {sidecar(), told("cart:1"), Update},
		"of another container":         {tells(workload.EnvInjection{Containers: []string{"web"}, Name: "ADDRESS", Value: "{name}:1"}), told("cart:1"), Update},
		"of all containers":            {tells(workload.EnvInjection{Containers: []string{"*"}, Name: "ADDRESS", Value: "{name}:1"}), told("cart:1"), None},
		"what was told is the owner's": {sidecar(), told(), None},
	} {
		requested := "asked"
		if test.want == Update {
			requested = "changed"
		}
		for _, policy := range []Policy{{}, {ReportDrift: true}} {
			plan := ForInjection(mine, test.desired.WithInput(RequestedInput{Digest: requested}), policy, test.view)
			require.Equal(t, test.want, plan.Change, "%s: %s", name, plan.Message())
			require.False(t, plan.Write.Repairs, name)
			require.Equal(t, test.want == Update, plan.Write.Patch != nil, name)
		}
	}
}

// The patch removes the outdated variables and their record, and keeps all other variables.
func TestRemoveStaleEnv_KeepsOtherVariables(t *testing.T) {
	record := meta.AnnotationInjectedEnv(mine)
	for name, test := range map[string]struct {
		plan Plan
		left any
	}{
		"an update": {ForInjection(mine, tells(address).WithInput(RequestedInput{Digest: "changed"}), Policy{}, told("cart:1", "x")), "app ADDRESS=cart:1"},
		"a removal": {ForRemoval(mine, told("cart:1", "x")), nil},
	} {
		patched, err := test.plan.ApplyPatch(map[string]any{
			"spec": map[string]any{"template": map[string]any{
				"metadata": map[string]any{"annotations": map[string]any{"a": "b", record: "app ADDRESS=cart:1\napp NAME=x"}},
				"spec": map[string]any{"containers": []any{map[string]any{"name": "app", "env": []any{
					map[string]any{"name": "FIRST", "value": "1"}, map[string]any{"name": "ADDRESS", "value": "cart:1"}, map[string]any{"name": "NAME", "value": "x"},
				}}}},
			}},
		})
		require.NoError(t, err, name)
		text, err := json.Marshal(patched["spec"])
		require.NoError(t, err)
		var spec struct {
			Template struct {
				Metadata struct{ Annotations map[string]any }
				Spec     struct {
					Containers []struct{ Env []struct{ Name string } }
				}
			}
		}
		require.NoError(t, json.Unmarshal(text, &spec))
		names := []string{}
		for _, one := range spec.Template.Spec.Containers[0].Env {
			names = append(names, one.Name)
		}
		want := []string{"FIRST"}
		if test.left != nil {
			want = append(want, "ADDRESS")
		}
		require.Equal(t, want, names, "%s: %v", name, test.plan.Write.Patch)
		require.Equal(t, test.left, spec.Template.Metadata.Annotations[record], name)
		require.Equal(t, "b", spec.Template.Metadata.Annotations["a"], name)
	}
}

// An upgraded operator would inject another value. If the requested input is the same, injected variables stay until
// the next change.
func TestForInjection_KeepsInjectedEnvAfterUpgrade(t *testing.T) {
	older := tells(address).WithInput(RequestedInput{Digest: "asked"})
	view := writtenBy(older)
	view.InjectedEnv = []workload.EnvRecord{{Key: meta.AnnotationInjectedEnv(mine), Variables: []workload.InjectedEnv{{Container: "app", Name: "ADDRESS", Value: "cart:1"}}}}
	newer := tells(workload.EnvInjection{Containers: []string{"app"}, Name: "ADDRESS", Value: "other"})
	require.Equal(t, None, ForInjection(mine, newer.WithInput(RequestedInput{Digest: "asked"}), Policy{}, view).Change)
	require.Equal(t, Update, ForInjection(mine, newer.WithInput(RequestedInput{Digest: "another"}), Policy{}, view).Change)
}

func TestEnvInjectionWarning_ExplainsMissingVariables(t *testing.T) {
	require.Empty(t, sidecar().EnvInjectionWarning("it is off", application()))
	require.Empty(t, tells(address).EnvInjectionWarning("", application()))
	require.Contains(t, tells(address).EnvInjectionWarning("it is off", application()), "environment variables are not injected into the application (sidecar.applicationEnv): it is off")
	job := with(application(), func(v *workload.View) { v.Kind = "Job" })
	require.Contains(t, tells(address).EnvInjectionWarning("", job), "admission injection does not apply to Jobs")
	mounting := tells(address)
	mounting.overlay.Mounts = []workload.Mount{{Container: "app"}}
	require.Contains(t, mounting.EnvInjectionWarning("", application()), "it mounts a volume into the application's containers")
}
