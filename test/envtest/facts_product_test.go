// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// These tests check the operator with the API server's behavior of facts_api_test.go.

// ownerApplies applies a Deployment with the selected label, with server-side apply.
func ownerApplies(t *testing.T, namespace, pod string) (*appsv1.Deployment, error) {
	t.Helper()
	return applyAs(t, owner, namespace, `{metadata: {name: cart, labels: {logs: vector}},
		spec: {selector: {matchLabels: {app: cart}}, template: {metadata: {labels: {app: cart}}, spec: `+pod+`}}}`)
}

// The log volume is in the application's manifest. The sidecar mounts it, and its removal keeps the volume.
func TestLogsSpec_KeepsVolumeOwnedByApplication(t *testing.T) {
	t.Parallel()
	const container = `{name: app, image: "registry.example/app:1", volumeMounts: [{name: logs, mountPath: /var/log/app}]}`
	namespace := world.Namespace(t)
	_, err := ownerApplies(t, namespace, `{containers: [`+container+`], volumes: [{name: logs, emptyDir: {}}]}`)
	require.NoError(t, err)
	deployment := cart(namespace)
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithLogs("/var/log/app").Build()
	world.Create(t, vs)
	harness.Until(t, world, deployment, "the sidecar", isInjected)
	generation := deployment.Generation

	moved, err := ownerApplies(t, namespace, `{containers: [`+container+`], volumes: [{name: logs, ephemeral: {volumeClaimTemplate: {spec: {
		accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}}]}`)

	require.NoError(t, err, "the owner's deploy succeeds")
	require.True(t, isInjected(moved))
	require.Equal(t, generation+1, moved.Generation)
}

// The application owner forces a container of the sidecar's name. The operator keeps that container, and the
// VectorSidecar names its field manager and can be deleted.
func TestVectorSidecar_KeepsContainerForcedByApplication(t *testing.T) {
	t.Parallel()
	takeOver(t, "deployer", "--server-side", "--force-conflicts", "--field-manager=deployer")
}

// The application owner's tool owns only the image of the sidecar's container. The removal of the sidecar keeps the
// container.
func TestVectorSidecar_KeepsContainerAppliedByApplication(t *testing.T) {
	t.Parallel()
	takeOver(t, "kubectl-client-side-apply")
}

// takeOver deploys a container of the sidecar's name with kubectl apply and some flags, and requires that it stays.
func takeOver(t *testing.T, manager string, flags ...string) {
	t.Helper()
	namespace := world.Namespace(t)
	deploy := func(containers string) {
		text := `{apiVersion: apps/v1, kind: Deployment, metadata: {name: cart, labels: {logs: vector}},
			spec: {selector: {matchLabels: {app: cart}}, template: {metadata: {labels: {app: cart}}, spec: {containers: ` + containers + `}}}}`
		run(t, namespace, "kubectl", append([]string{"apply", "-f", file(t, text)}, flags...)...)
	}
	deploy(`[` + app + `]`)
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").
		Sidecar(func(s *v1alpha1.SidecarSpec) { s.Native = "Never" }).Build()
	world.Create(t, vs)
	deployment := cart(namespace)
	harness.Until(t, world, vs, "readiness", isUpToDate)

	deploy(`[` + app + `, {name: vector, image: "registry.example/own:1"}]`)

	harness.Until(t, world, vs, "the conflict", func(vs *v1alpha1.VectorSidecar) bool { return vs.Status.Total().Conflicting == 1 })
	for _, part := range []string{"Conflict: ", `"` + manager + `"`, `containers[name="vector"].image`} {
		require.Contains(t, message(vs, meta.ConditionReady), part)
	}
	require.LessOrEqual(t, len(running.Requests.Writes("/namespaces/"+namespace+"/deployments")), 3, "no flip-flop")
	require.NoError(t, world.Client.Delete(t.Context(), vs))
	harness.Eventually(t, "the deletion of the VectorSidecar", func() bool { return isGone(t, vs) })
	world.Get(t, deployment)
	require.Equal(t, []string{"app", "vector"}, containers(deployment))
	require.Equal(t, "registry.example/own:1", deployment.Spec.Template.Spec.Containers[1].Image)
	require.Empty(t, deployment.Spec.Template.Spec.Containers[1].Env, "nothing of ours is left in it")
	require.Empty(t, deployment.Spec.Template.Spec.Volumes)
}

// The name of the field manager is the same in each release, because fields of another name would stay.
func TestManager_HasFixedName(t *testing.T) {
	t.Parallel()
	deployment, _ := injected(t)
	var found []string
	for _, entry := range deployment.ManagedFields {
		if entry.Operation == metav1.ManagedFieldsOperationApply {
			found = append(found, entry.Manager)
		}
	}
	require.Equal(t, []string{"vectorsidecar/logs"}, found)
}

// A workload is deleted and created again. The operator never creates it itself, and injects into the new one.
func TestVectorSidecar_InjectsRecreatedWorkload(t *testing.T) {
	t.Parallel()
	deployment, vs := injected(t)
	first := deployment.UID
	require.NoError(t, world.Client.Delete(t.Context(), deployment))
	again := objects.NewDeployment("cart", vs.Namespace).Labeled("logs", "vector").Build()
	harness.Eventually(t, "the name to be free", func() bool { return world.Client.Create(t.Context(), again) == nil })

	harness.Until(t, world, again, "the sidecar", isInjected)
	require.NotEqual(t, first, again.UID)
	require.Equal(t, "registry.example/app:1", again.Spec.Template.Spec.Containers[0].Image)

	require.NoError(t, world.Client.Delete(t.Context(), again))
	harness.Until(t, world, vs, "a result in the status", func(vs *v1alpha1.VectorSidecar) bool { return vs.Status.MatchedDeployments == 0 })
	require.True(t, apierrors.IsNotFound(world.Client.Get(t.Context(), client.ObjectKeyFromObject(again), cart(vs.Namespace))))
}

// The application owner adds an init container. It comes before or after the sidecar, depending on the tool, and the
// operator does not write.
func TestVectorSidecar_AcceptsLaterInitContainers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		flags []string
		order []string
	}{
		"server-side": {[]string{"--server-side"}, []string{"vector", "migrate"}},
		"client-side": {nil, []string{"migrate", "vector"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := world.Namespace(t)
			deploy := func(pod string) {
				text := `{apiVersion: apps/v1, kind: Deployment, metadata: {name: cart, labels: {logs: vector}},
					spec: {selector: {matchLabels: {app: cart}}, template: {metadata: {labels: {app: cart}}, spec: ` + pod + `}}}`
				run(t, namespace, "kubectl", append([]string{"apply", "-f", file(t, text)}, test.flags...)...)
			}
			deploy(`{containers: [` + app + `]}`)
			deployment, vs := inject(t, namespace)
			counted := countRevisions(t, deployment)

			deploy(`{containers: [` + app + `], initContainers: [{name: migrate, image: "registry.example/migrate:1"}]}`)

			settle(t, deployment, vs)
			require.Equal(t, test.order, initContainers(deployment))
			require.Equal(t, 1, counted.until(t, deployment), "the order waits for the next change")
		})
	}
}

// A workload that is created after its VectorSidecar has at most two ReplicaSets.
func TestVectorSidecar_StartsNewWorkloadAtMostTwice(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").Build()
	world.Create(t, vs)
	harness.Until(t, world, vs, "a first status", isReady)

	deployment := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").Build()
	world.Create(t, deployment)

	harness.Until(t, world, vs, "readiness", isUpToDate)
	require.LessOrEqual(t, replicaSets(t, namespace), 2)
}

// Another writer adds a variable to the sidecar. The operator keeps it, also in later changes.
func TestVectorSidecar_KeepsVariablesOfOtherWriters(t *testing.T) {
	t.Parallel()
	deployment, vs := injected(t)
	written := len(running.Requests.Writes("/namespaces/" + vs.Namespace + "/deployments"))
	run(t, vs.Namespace, "kubectl", "patch", "deployment", "cart", "--type=strategic",
		`--patch={"spec":{"template":{"spec":{"initContainers":[{"name":"vector","env":[{"name":"PROXY","value":"on"}]}]}}}}`)

	settle(t, deployment, vs)
	require.Contains(t, variables(deployment), "PROXY")
	require.Len(t, running.Requests.Writes("/namespaces/"+vs.Namespace+"/deployments"), written, "no fight")

	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: "trace"} })
	harness.Until(t, world, deployment, "the change", func(d *appsv1.Deployment) bool { return logLevel(d) == "trace" })
	require.Contains(t, variables(deployment), "PROXY")
}

// A rendered sidecar has the same variable twice. The operator reports this before a write, because the API server
// would answer with an internal error.
func TestVectorSidecar_ReportsDuplicateKeys(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	deployment := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").Build()
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithEnv("A", "1").WithEnv("A", "2").Build()
	world.Create(t, deployment, vs)

	harness.Until(t, world, vs, "a result in the status", hasCondition(meta.ConditionStalled, metav1.ConditionTrue, `duplicate variable "A"`))
	require.Empty(t, running.Requests.Writes("/namespaces/"+namespace+"/deployments"))
}

func variables(d *appsv1.Deployment) []string {
	var names []string
	for _, c := range d.Spec.Template.Spec.InitContainers {
		for _, variable := range c.Env {
			names = append(names, variable.Name)
		}
	}
	return names
}
