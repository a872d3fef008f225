// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// If the application owner removes the key volumes from the manifest, client-side kubectl apply deletes the whole list,
// which the API server rejects, because the sidecar mounts a volume. With an empty list, only the application's volumes
// are deleted.
func TestVectorSidecar_AllowsEmptyVolumeListInManifest(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	kubectlApply(t, namespace)
	deployment, vs := inject(t, namespace)
	owned := "      volumes:\n        - {name: cache, emptyDir: {}}\n"
	mount := "          volumeMounts: [{name: cache, mountPath: /cache}]\n"
	without := strings.Replace(manifest("2"), mount, "", 1)
	require.Contains(t, without, owned)

	said := refused(t, namespace, "kubectl", "apply", "-f", file(t, strings.Replace(without, owned, "", 1)))
	require.Contains(t, said, "volumeMounts")
	run(t, namespace, "kubectl", "apply", "-f", file(t, strings.Replace(without, owned, "      volumes: []\n", 1)))

	settle(t, deployment, vs)
	for _, volume := range deployment.Spec.Template.Spec.Volumes {
		require.NotEqual(t, "cache", volume.Name)
	}
	require.NotEmpty(t, deployment.Spec.Template.Spec.Volumes, "those of the sidecar stay")
}

// A chart leaves empty maps and lists in a manifest, so its field manager owns these fields. The operator still
// injects, the next apply has no conflict, and the removal restores the manifest.
func TestVectorSidecar_InjectsDespiteEmptyMapsAndLists(t *testing.T) {
	t.Parallel()
	for name, empty := range map[string]struct{ annotations, list string }{
		"empty": {"{}", "[]"}, "null": {"null", "null"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := world.Namespace(t)
			manifest := func(version int) string {
				return fmt.Sprintf(`
metadata: {name: cart, namespace: %s, labels: {logs: vector}, annotations: %[3]s}
spec:
  selector: {matchLabels: {app: cart}}
  template:
    metadata: {labels: {app: cart}, annotations: %[3]s}
    spec:
      initContainers: %[4]s
      containers: [{name: app, image: "registry.example/app:%[2]d", volumeMounts: %[4]s, env: %[4]s}]
      volumes: %[4]s`, namespace, version, empty.annotations, empty.list)
			}
			deployment := mustApply(t, "helm", namespace, manifest(1))
			vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").Build()
			world.Create(t, vs)
			harness.Until(t, world, deployment, "the sidecar", isInjected)

			deployment = mustApply(t, "helm", namespace, manifest(2))
			require.True(t, isInjected(deployment), "the owner's next apply meets no conflict, and leaves the sidecar")
			injected := deployment.Spec.Template.Spec.InitContainers[0].Image
			harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) {
				vs.Spec.Sidecar = &v1alpha1.SidecarSpec{Image: "example.com/vector:0.56.0"}
			})
			harness.Until(t, world, deployment, "the other image", func(d *appsv1.Deployment) bool {
				return d.Spec.Template.Spec.InitContainers[0].Image != injected
			})

			require.NoError(t, world.Client.Delete(t.Context(), vs))
			harness.Until(t, world, deployment, "the removal of the sidecar", func(d *appsv1.Deployment) bool { return len(d.Spec.Template.Spec.InitContainers) == 0 })
			require.Empty(t, deployment.Spec.Template.Spec.Volumes)
			delete(deployment.Annotations, "deployment.kubernetes.io/revision") // The Deployment controller may be late.
			require.Empty(t, deployment.Annotations)
			require.Empty(t, deployment.Spec.Template.Annotations)
			mustApply(t, "helm", namespace, manifest(3))
		})
	}
}

// Templates write zero values, which the API server drops, or leave out defaults, which it adds. The operator writes
// the workload once, and corrects nothing afterwards.
func TestVectorSidecar_WritesOnceDespiteZeroValues(t *testing.T) {
	container := func(more string) string {
		return `initContainers: [{name: pre, image: "registry.example/pre:1", ` + more + `}]`
	}
	volume := func(source string) string { return `volumes: [{name: info, ` + source + `}]` }
	mount := func(more string) string {
		return `{sidecar: {volumeMounts: [{name: info, mountPath: /info, ` + more + `}]}, ` + volume("emptyDir: {}") + `}`
	}
	const restricted = `securityContext: {allowPrivilegeEscalation: false, privileged: false, runAsNonRoot: true, capabilities: {add: [], drop: [ALL]}, seccompProfile: {type: RuntimeDefault}}`
	given := map[string]string{
		"mount":     mount("readOnly: false"),
		"path":      mount(`subPath: ""`),
		"directory": volume(`emptyDir: {medium: ""}`),
		"variable":  `sidecar: {env: [{name: A, value: ""}]}`,
		"divisor":   `sidecar: {env: [{name: CPU, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}]}`,
		"file":      container(`env: [{name: A, valueFrom: {fileKeyRef: {volumeName: info, path: p, key: k}}}]`) + "\n" + volume("emptyDir: {}"),
		"claim":     volume("persistentVolumeClaim: {claimName: x, readOnly: false}"),
		"own-claim": volume(`ephemeral: {volumeClaimTemplate: {metadata: {labels: {}}, spec: {accessModes: [ReadWriteOnce], storageClassName: "", volumeName: "", resources: {requests: {storage: 1024Mi}}}}}`),
		"token":     volume(`projected: {sources: [{serviceAccountToken: {path: t, audience: ""}}, {downwardAPI: {items: [{path: cpu, resourceFieldRef: {containerName: app, resource: limits.cpu}}]}}]}`),
		"lists":     container("command: [], args: [], env: [], ports: [], volumeMounts: [], envFrom: [], stdin: false, tty: false"),
		"ports":     container(`ports: [{containerPort: 53, protocol: UDP}, {containerPort: 53, hostPort: 0, name: "", protocol: ""}]`),
		"fraction":  container(`resources: {requests: {cpu: 100u, memory: 1Mi}, limits: {memory: "1048576.0001"}}`),
		"pull":      container(`imagePullPolicy: "", terminationMessagePath: "", workingDir: ""`),
		"probe":     container(restricted + `, restartPolicy: Always, startupProbe: {initialDelaySeconds: 0, timeoutSeconds: 0, httpGet: {port: 80, path: "", httpHeaders: [{name: a, value: ""}]}}, livenessProbe: {grpc: {port: 90}}`),
	}
	environments := objects.NewConfigMap(options.EnvironmentsConfigMap, options.Namespace, "plain.yaml", "{}")
	for name, text := range given {
		environments.Data[name+".yaml"] = text
	}
	world.SetValues(t, environments)
	all := map[string]*v1alpha1.VectorSidecar{}
	for name := range given {
		namespace := world.Namespace(t)
		all[name] = objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").InEnvironment(name).WithSoak(0).Build()
		world.Create(t, objects.NewDeployment("cart", namespace).Labeled("logs", "vector").WithReplicas(0).Build(), all[name])
	}
	for name, vs := range all {
		t.Run(name, func(t *testing.T) {
			harness.Until(t, world, vs, "the end of all rollouts", isUpToDate)
			require.Len(t, running.Requests.Writes("/namespaces/"+vs.Namespace+"/deployments"), 1)
		})
	}
}
