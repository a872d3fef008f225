// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// A change that does not affect the sidecar causes no write of a workload and no restart of pods.
func TestVectorSidecar_IgnoresIrrelevantChanges(t *testing.T) {
	t.Parallel()
	const sidecar = `apiVersion: observability.kontroloop.ai/v1alpha1
kind: VectorSidecar
metadata: {name: logs}
spec:
  selector: {matchLabels: {logs: vector}}
  sidecar: {config: {configMapRef: {name: vector}}}
  rollout: {soak: 0s}
`
	for name, touch := range map[string]func(t *testing.T, namespace string){
		"the VectorSidecar applied again": func(t *testing.T, ns string) {
			run(t, ns, "kubectl", "apply", "-f", file(t, sidecar))
		},
		"the VectorSidecar applied again by another tool": func(t *testing.T, ns string) {
			run(t, ns, "kubectl", "apply", "--server-side", "--field-manager=gitops", "-f", file(t, sidecar))
		},
		"a label and an annotation on the VectorSidecar": func(t *testing.T, ns string) {
			run(t, ns, "kubectl", "label", "vectorsidecar/logs", "team=a")
			run(t, ns, "kubectl", "annotate", "vectorsidecar/logs", "note=x")
		},
		"a default of the VectorSidecar written down": func(t *testing.T, ns string) {
			run(t, ns, "kubectl", "patch", "vectorsidecar/logs", "--type=merge", `--patch={"spec":{"environment":"development","enabled":true}}`)
		},
		"the ConfigMap without its content": func(t *testing.T, ns string) {
			run(t, ns, "kubectl", "annotate", "configmap/vector", "touched=yes")
			// When a later event of the same kind is processed, the operator has processed this one.
			fence := objects.NewVectorSidecar("fence", ns).Selecting("logs", "nothing").WithConfigMap("fence", "").Build()
			world.Create(t, fence, objects.NewConfigMap("fence", ns, "vector.yaml", objects.VectorConfig("x")))
			harness.Until(t, world, fence, "its ConfigMap in the cache", isReady)
		},
		"the namespace's label names the environment that it had": func(t *testing.T, ns string) {
			run(t, ns, "kubectl", "label", "namespace", ns, meta.LabelEnvironment+"=development")
		},
		"the metadata of the workload": func(t *testing.T, ns string) {
			run(t, ns, "kubectl", "annotate", "deployment/cart", "note=x")
			run(t, ns, "kubectl", "label", "deployment/cart", "tier=web")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := world.Namespace(t)
			world.Create(t, objects.NewConfigMap("vector", namespace, "vector.yaml", objects.VectorConfig("x")),
				objects.NewDeployment("cart", namespace).Labeled("logs", "vector").Build())
			run(t, namespace, "kubectl", "apply", "-f", file(t, sidecar))
			deployment, vs := cart(namespace), objects.NewVectorSidecar("logs", namespace).Build()
			settle(t, deployment, vs)
			counted := countRevisions(t, deployment)
			written := len(running.Requests.Writes("/namespaces/" + namespace + "/deployments"))

			touch(t, namespace)

			settle(t, deployment, vs)
			require.Zero(t, counted.until(t, deployment))
			require.Len(t, running.Requests.Writes("/namespaces/"+namespace+"/deployments"), written)
		})
	}
}

// Of two replicas, only the leader writes. When the other one becomes the leader, it writes no workload.
func TestOperator_TakesOverWithoutWrites(t *testing.T) {
	// If sidecars exist but no Lease, a new leader waits in case another leader still runs.
	harness.Eventually(t, "the sidecars of other tests to be gone", func() bool {
		var all v1alpha1.VectorSidecarList
		require.NoError(t, world.Client.List(t.Context(), &all))
		return len(all.Items) == 0
	})
	require.NoError(t, running.Stop())
	t.Cleanup(func() { running = world.RunOperator(options) })
	electing := options
	electing.LeaderElect, electing.LeaderElectionID = true, harness.Account
	leader := world.StartOperator(t, electing)
	deployment, vs := injected(t)
	settle(t, deployment, vs)
	standby := world.StartOperator(t, electing)
	harness.Eventually(t, "the standby's first request", func() bool { return len(standby.Requests.Reads("")) > 0 })

	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: "trace"} })
	settle(t, deployment, vs)
	require.Len(t, leader.Requests.Writes("/namespaces/"+vs.Namespace+"/deployments"), 2, "the injection and the change")
	require.Empty(t, standby.Requests.Writes(""), "it waits")
	counted := countRevisions(t, deployment)

	require.NoError(t, leader.Stop())
	settle(t, deployment, vs)

	require.Zero(t, counted.until(t, deployment))
	require.Empty(t, standby.Requests.Writes("/namespaces/"+vs.Namespace+"/deployments"))
	require.NotEmpty(t, standby.Requests.Writes("/namespaces/"+vs.Namespace+"/vectorsidecars"), "it leads: it gave the witness a status")
}
