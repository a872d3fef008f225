// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// A shorter grace period shortens the preStop sleep in the type and in the applied body. Nothing else changes.
func TestRender_ShortensOnlySleep(t *testing.T) {
	for name, test := range map[string]struct {
		lifecycle string
		most      int64
		want      string
	}{
		"cut":                 {`{preStop: {sleep: {seconds: 9}}}`, 4, `{"preStop":{"sleep":{"seconds":4}}}`},
		"left out":            {`{preStop: {sleep: {seconds: 9}}}`, 0, ``},
		"short enough":        {`{preStop: {sleep: {seconds: 9}}}`, 9, `{"preStop":{"sleep":{"seconds":9}}}`},
		"beside another hook": {`{preStop: {sleep: {seconds: 9}}, postStart: {exec: {command: [a]}}}`, 0, `{"postStart":{"exec":{"command":["a"]}}}`},
		"a command":           {`{preStop: {exec: {command: [sleep, "9"]}}}`, 0, `{"preStop":{"exec":{"command":["sleep","9"]}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			result, err := try(t, map[string]string{"pod.yaml": strings.Replace(podTemplate, "}}}", "}}, lifecycle: "+test.lifecycle+"}", 1)})
			require.NoError(t, err)
			whole := result.Overlay
			before := texts(t, &whole)

			cut, err := whole.WithDrainLimit(test.most)

			require.NoError(t, err)
			require.Equal(t, before, texts(t, &whole), "the overlay itself stays as it is")
			require.LessOrEqual(t, cut.DrainSeconds(), test.most)
			container := cut.Body["spec"].(map[string]any)["containers"].([]any)[0].(map[string]any)
			lifecycle, isThere := container["lifecycle"]
			require.Equal(t, test.want != "", isThere)
			if isThere {
				text, err := json.Marshal(lifecycle)
				require.NoError(t, err)
				require.JSONEq(t, test.want, string(text))
			}
			var applied corev1.PodTemplateSpec
			text, err := json.Marshal(cut.Body)
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(text, &applied))
			require.Equal(t, cut.Template.Spec.Containers[0].Lifecycle, applied.Spec.Containers[0].Lifecycle)
		})
	}
}

// The time limit of a drain gate is in a variable of its container. It is shortened, and variables of other containers
// are not.
func TestRender_ShortensOnlyDrainGate(t *testing.T) {
	for _, test := range []struct{ seconds, want string }{{"9", "4"}, {"4", "4"}, {"3", "3"}, {"soon", "soon"}} {
		env := `env: [{name: A, value: "9"}, {name: VECTORSIDECAR_DRAIN_SECONDS, value: "` + test.seconds + `"}]`
		result, err := try(t, map[string]string{"pod.yaml": strings.Replace(podTemplate, "}}}", "}}, "+env+"}", 1)})
		require.NoError(t, err)
		cut, err := result.Overlay.WithDrainLimit(4)
		require.NoError(t, err)
		want := []corev1.EnvVar{{Name: "A", Value: "9"}, {Name: "VECTORSIDECAR_DRAIN_SECONDS", Value: test.want}}
		require.Equal(t, want, cut.Template.Spec.Containers[0].Env)
		text, err := json.Marshal(cut.Body["spec"].(map[string]any)["containers"].([]any)[0].(map[string]any)["env"])
		require.NoError(t, err)
		require.JSONEq(t, `[{"name": "A", "value": "9"}, {"name": "VECTORSIDECAR_DRAIN_SECONDS", "value": "`+test.want+`"}]`, string(text))
	}
}

func texts(t *testing.T, overlay *workload.Overlay) string {
	t.Helper()
	text, err := json.Marshal(overlay)
	require.NoError(t, err)
	return string(text)
}
