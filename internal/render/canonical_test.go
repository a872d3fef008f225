// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"testing"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// The API server drops some zero values and adds defaults. The canonical body has the same fields as the stored one, so
// its hash does not depend on how templates write them.
func TestCanonicalBody_EqualsBodyStoredByAPIServer(t *testing.T) {
	container := func(more string) string {
		return "{containers: [{name: vector, image: x, " + more + "}]}"
	}
	volume := func(source string) string {
		return "{containers: [{name: vector, image: x}], volumes: [{name: v, " + source + "}]}"
	}
	for name, test := range map[string]struct{ written, kept string }{
		"a mount":             {container(`volumeMounts: [{name: v, mountPath: /v, readOnly: false, subPath: "", subPathExpr: ""}]`), container(`volumeMounts: [{name: v, mountPath: /v}]`)},
		"a variable":          {container(`env: [{name: A, value: ""}, {name: B, value: x}]`), container(`env: [{name: A}, {name: B, value: x}]`)},
		"a port":              {container(`ports: [{containerPort: 80, hostPort: 0, name: "", hostIP: "", protocol: ""}]`), container(`ports: [{containerPort: 80}]`)},
		"a probe":             {container(`livenessProbe: {initialDelaySeconds: 0, timeoutSeconds: 0, httpGet: {port: 80, path: "", scheme: "", httpHeaders: [{name: a, value: ""}]}}`), container(`livenessProbe: {httpGet: {port: 80, httpHeaders: [{name: a, value: ""}]}}`)},
		"a container":         {container(`imagePullPolicy: "", terminationMessagePath: "", workingDir: "", stdin: false, tty: false, command: [], env: null`), container(`args: null`)},
		"a directory":         {volume(`emptyDir: {medium: ""}`), volume(`emptyDir: {}`)},
		"a claim":             {volume(`persistentVolumeClaim: {claimName: c, readOnly: false}`), volume(`persistentVolumeClaim: {claimName: c}`)},
		"a claim of its own":  {volume(`ephemeral: {volumeClaimTemplate: {metadata: {labels: {}}, spec: {volumeName: "", storageClassName: ""}}}`), volume(`ephemeral: {volumeClaimTemplate: {metadata: {}, spec: {storageClassName: ""}}}`)},
		"a token":             {volume(`projected: {sources: [{serviceAccountToken: {path: t, audience: ""}}]}`), volume(`projected: {sources: [{serviceAccountToken: {path: t}}]}`)},
		"a divisor":           {container(`env: [{name: A, valueFrom: {resourceFieldRef: {resource: limits.cpu, containerName: ""}}}]`), container(`env: [{name: A, valueFrom: {resourceFieldRef: {resource: limits.cpu, divisor: "0"}}}]`)},
		"a divisor of a file": {volume(`downwardAPI: {items: [{path: a, resourceFieldRef: {containerName: c, resource: limits.cpu}}]}`), volume(`downwardAPI: {items: [{path: a, resourceFieldRef: {containerName: c, resource: limits.cpu, divisor: 0}}]}`)},
		"a key of a file":     {container(`env: [{name: A, valueFrom: {fileKeyRef: {volumeName: v, path: p, key: k}}}]`), container(`env: [{name: A, valueFrom: {fileKeyRef: {volumeName: v, path: p, key: k, optional: false}}}]`)},
		"a small quantity":    {container(`resources: {limits: {cpu: 100u, memory: 64Mi}, requests: {cpu: "0.0001"}}`), container(`resources: {limits: {cpu: 1m, memory: 64Mi}, requests: {cpu: 1m}}`)},
		"a certificate":       {volume(`projected: {sources: [{podCertificate: {signerName: s/s, keyType: RSA3072, keyPath: ""}}]}`), volume(`projected: {sources: [{podCertificate: {signerName: s/s, keyType: RSA3072, maxExpirationSeconds: 86400}}]}`)},
	} {
		t.Run(name, func(t *testing.T) {
			of := func(spec string) *Result {
				result, err := try(t, map[string]string{"pod.yaml": "kind: PodTemplate\ntemplate: {spec: " + spec + "}\n"})
				require.NoError(t, err)
				return result
			}
			written, kept := of(test.written).Overlay, of(test.kept).Overlay

			require.Equal(t, kept.Body, written.Body)
			require.Equal(t, kept.Hash, written.Hash)
		})
	}

	const zeros = `securityContext: {privileged: false, readOnlyRootFilesystem: false, runAsUser: 0}, resources: {limits: {cpu: 0}}, env: [{name: A, valueFrom: {resourceFieldRef: {resource: limits.cpu, divisor: 1}}}]`
	result, err := try(t, map[string]string{"pod.yaml": "kind: PodTemplate\ntemplate: {metadata: {labels: {a: \"\"}}, spec: " + container(zeros) + "}\n"})
	require.NoError(t, err)
	require.Equal(t, map[string]any{"a": ""}, tree.MapAt(result.Overlay.Body, "metadata")["labels"])
	require.Equal(t, []any{map[string]any{
		"name": "vector", "image": "x", "securityContext": map[string]any{"privileged": false, "readOnlyRootFilesystem": false, "runAsUser": 0.0},
		"resources": map[string]any{"limits": map[string]any{"cpu": "0"}},
		"env":       []any{map[string]any{"name": "A", "valueFrom": map[string]any{"resourceFieldRef": map[string]any{"resource": "limits.cpu", "divisor": "1"}}}},
	}}, tree.MapAt(result.Overlay.Body, "spec")["containers"])
}
