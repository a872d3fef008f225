// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The CustomResourceDefinition of Rollouts allows fields of a wrong type. Such a Rollout is read, and these fields are
// reported.
func TestReadArgoRollout_ReportsFieldsOfWrongType(t *testing.T) {
	const (
		pod     = "spec.template.spec"
		records = `"metadata":{"annotations":{"vectorsidecar.observability.kontroloop.ai/injected-items.logs":"{\"manager\":\"vectorsidecar/logs\",\"containers\":[\"vector\"]}"}}`
	)
	inPod := func(text string) string { return `"spec":{"template":{` + records + `,"spec":` + text + `}}` }
	for name, test := range map[string]struct{ fields, template, other string }{
		"a quantity":         {fields: inPod(`{"containers":[{"name":"a"},{"name":"b","resources":{"limits":{"cpu":"one"}}}]}`), template: pod + ".containers[1].resources.limits.cpu cannot be read: quantities must match the regular expression"},
		"a quantity too far": {fields: inPod(`{"containers":[{"name":"a","resources":{"limits":{"memory":"1e60000000"}}}]}`), template: pod + ".containers[0].resources.limits.memory: quantity 1e60000000 is out of range"},
		"a quantity too long": {
			fields:   inPod(`{"containers":[{"name":"a","env":[{"name":"A","valueFrom":{"resourceFieldRef":{"resource":"limits.cpu","divisor":"` + strings.Repeat("9", 700_000) + `"}}}]}],"volumes":"none"}`),
			template: pod + ".containers[0].env[0].valueFrom.resourceFieldRef.divisor: quantity 99999",
		},
		"a text for a map":   {fields: inPod(`{"containers":[{"name":"a","resources":{"limits":"none"}}]}`), template: pod + ".containers[0].resources.limits cannot be read: got string, expected v1.ResourceList"},
		"a text for a list":  {fields: inPod(`{"containers":[{"name":"a"}],"volumes":"none"}`), template: pod + ".volumes cannot be read: got string, expected []v1.Volume"},
		"a size":             {fields: inPod(`{"volumes":[{"name":"d","emptyDir":{"sizeLimit":"lots"}}]}`), template: pod + ".volumes[0].emptyDir.sizeLimit cannot be read"},
		"a mode as a text":   {fields: inPod(`{"volumes":[{"name":"d","secret":{"defaultMode":"0644"}}]}`), template: pod + ".volumes[0].secret.defaultMode cannot be read: got string, expected int32"},
		"a key with dots":    {fields: inPod(`{"nodeSelector":{"kubernetes.io/os":1}}`), template: pod + `.nodeSelector["kubernetes.io/os"] cannot be read: got number, expected string`},
		"an annotation":      {fields: `"spec":{"template":` + strings.Replace(`{`+records+`}`, `{"vector`, `{"count":5,"vector`, 1) + `}`, template: "spec.template.metadata.annotations.count cannot be read: got number"},
		"no template at all": {fields: `"spec":{"template":"none"}`, template: "spec.template cannot be read: got string, expected v1.PodTemplateSpec"},
		"another's template": {fields: `"spec":{"workloadRef":{"kind":"Deployment","name":"cart"},"template":"none"}`},
		"how many":           {fields: `"spec":{"replicas":99999999999,"template":{` + records + `}}`, other: "spec.replicas cannot be read: got number 99999999999, expected int32"},
		"no spec":            {fields: `"spec":"none"`, other: "spec cannot be read: got string, expected workload.argoRolloutSpec"},
		"the status":         {fields: `"spec":{"template":{` + records + `}},"status":{"phase":"Healthy","observedGeneration":7}`, other: "status.observedGeneration cannot be read: got number, expected string"},
		"a condition":        {fields: `"status":{"conditions":[{"type":"Available"},{"type":[]}]}`, other: "status.conditions[1].type cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			object := `{"apiVersion":"argoproj.io/v1alpha1","kind":"Rollout","metadata":{"name":"bad","uid":"2","resourceVersion":"3"},` + test.fields + `}`
			list := newUnstructuredList(argoRolloutKind)
			require.NoError(t, json.Unmarshal([]byte(`{"apiVersion":"argoproj.io/v1alpha1","kind":"RolloutList","items":[{"metadata":{"name":"good"},"spec":{"replicas":3}},`+object+`]}`), list))
			good, isOne := Read(&list.Items[0])
			require.True(t, isOne)
			require.EqualValues(t, 3, good.Pods)

			rollout := &list.Items[1]
			view := NewView(rollout)
			require.Equal(t, "2", string(view.UID))
			require.Contains(t, view.Unread.Template, test.template)
			require.Contains(t, view.Unread.Other, test.other)
			require.Equal(t, test.template+test.other != "", view.Unread.Text() != "")
			if test.template != "" {
				require.Empty(t, view.Containers)
				require.Empty(t, view.Volumes)
			}
			if test.other != "" {
				require.Equal(t, RolloutUnavailable, view.Rollout, "how far it is, is not known")
			}
			_, carries := view.Owned["vectorsidecar/logs"]
			require.Equal(t, strings.Contains(test.fields, "injected-items.logs"), carries, "whether something of ours is in it is known all the same")

			written, err := json.Marshal(rollout)
			require.NoError(t, err)
			require.JSONEq(t, object, string(written), "nothing of it is lost")
		})
	}
	content, isOne := Read(&unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "argoproj.io/v1alpha1", "kind": "Rollout", "metadata": map[string]any{"name": "bad", "labels": map[string]any{"logs": int64(1)}},
	}})
	require.True(t, isOne)
	require.Contains(t, content.Unread.Other, "metadata.labels.logs cannot be read: got number, expected string")
}
