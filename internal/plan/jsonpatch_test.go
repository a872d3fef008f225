// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// The JSON patch tests each list item before it changes or removes the item, because the workload may have changed
// since it was read.
func TestOperations_TestItemsBeforeChange(t *testing.T) {
	const guards = `{"op":"test","path":"/metadata/uid","value":"1"},{"op":"test","path":"/metadata/resourceVersion","value":"7"}`
	for name, test := range map[string]struct{ live, patch, want, reason string }{
		"into a pod without lists": {
			`{spec: {template: {spec: {containers: [{name: app}]}}}}`,
			`{spec: {template: {spec: {volumes: [{name: spool, emptyDir: {}}], containers: [{name: vector, image: "v:1"}], $setElementOrder/containers: [{name: app}, {name: vector}]}}}}`,
			`{"op":"add","path":"/spec/template/spec/containers/1","value":{"image":"v:1","name":"vector"}},` +
				`{"op":"add","path":"/spec/template/spec/volumes","value":[{"emptyDir":{},"name":"spool"}]}`,
			"a list that is not there is added whole",
		},
		"before others": {
			`{spec: {template: {spec: {initContainers: [{name: migrate}]}}}}`,
			`{spec: {template: {spec: {initContainers: [{name: vector}], $setElementOrder/initContainers: [{name: vector}, {name: migrate}]}}}}`,
			`{"op":"add","path":"/spec/template/spec/initContainers/0","value":{"name":"vector"}}`,
			"a native sidecar is the first",
		},
		"out of the middle": {
			`{metadata: {annotations: {a/b: "1", c: "2"}}, spec: {template: {spec: {volumes: [{name: a}, {name: spool}, {name: b}]}}}}`,
			`{metadata: {annotations: {a/b: null}}, spec: {template: {spec: {volumes: [{name: spool, $patch: delete}]}}}}`,
			`{"op":"test","path":"/metadata/annotations/a~1b","value":"1"},{"op":"remove","path":"/metadata/annotations/a~1b"},` +
				`{"op":"test","path":"/spec/template/spec/volumes/1","value":{"name":"spool"}},{"op":"remove","path":"/spec/template/spec/volumes/1"}`,
			"it is tested to be what was read",
		},
		"the last one": {
			`{metadata: {name: cart, annotations: {a: "1"}}, spec: {template: {spec: {containers: [{name: app}], volumes: [{name: spool}]}}}}`,
			`{metadata: {annotations: {a: null}}, spec: {template: {spec: {volumes: [{name: spool, $patch: delete}]}}}}`,
			`{"op":"test","path":"/metadata/annotations","value":{"a":"1"}},{"op":"remove","path":"/metadata/annotations"},` +
				`{"op":"test","path":"/spec/template/spec/volumes","value":[{"name":"spool"}]},{"op":"remove","path":"/spec/template/spec/volumes"}`,
			"what we have made goes with it",
		},
		"a field of one": {
			`{spec: {template: {spec: {containers: [{name: app}, {name: vector, image: "v:1", ports: [{containerPort: 1}]}]}}}}`,
			`{spec: {template: {spec: {containers: [{name: vector, image: "v:2"}]}}}}`,
			`{"op":"test","path":"/spec/template/spec/containers/1/name","value":"vector"},` +
				`{"op":"test","path":"/spec/template/spec/containers/1/image","value":"v:1"},{"op":"replace","path":"/spec/template/spec/containers/1/image","value":"v:2"}`,
			"the rest is left as it is",
		},
		"another order": {
			`{spec: {template: {spec: {initContainers: [{name: migrate}, {name: vector}]}}}}`,
			`{spec: {template: {spec: {$setElementOrder/initContainers: [{name: vector}, {name: migrate}]}}}}`,
			`{"op":"test","path":"/spec/template/spec/initContainers","value":[{"name":"migrate"},{"name":"vector"}]},` +
				`{"op":"replace","path":"/spec/template/spec/initContainers","value":[{"name":"vector"},{"name":"migrate"}]}`,
			"the list is replaced if it is the one that was read",
		},
		"a mount of the application's": {
			`{spec: {template: {spec: {containers: [{name: app, volumeMounts: [{mountPath: /a, name: a}]}]}}}}`,
			`{spec: {template: {spec: {containers: [{name: app, volumeMounts: [{mountPath: /log, name: spool}]}]}}}}`,
			`{"op":"test","path":"/spec/template/spec/containers/0/name","value":"app"},` +
				`{"op":"add","path":"/spec/template/spec/containers/0/volumeMounts/0","value":{"mountPath":"/log","name":"spool"}}`,
			"its own stays",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var live, patch map[string]any
			require.NoError(t, yaml.Unmarshal([]byte(test.live), &live))
			require.NoError(t, yaml.Unmarshal([]byte(test.patch), &patch))
			p := Plan{Target: workload.Ref{Kind: "Rollout", UID: "1"}, Write: Write{Patch: patch}}
			p.Workload.ResourceVersion = "7"

			operations, err := p.Operations(live)

			require.NoError(t, err)
			text, err := json.Marshal(operations)
			require.NoError(t, err)
			require.JSONEq(t, "["+guards+","+test.want+"]", string(text), test.reason)
		})
	}
}
