// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// The tests of this file check the log volume that the operator mounts into the application's containers.

const sharedVolume = "vectorsidecar-vector-logs"

func sharesLogs(containers ...string) func(*v1alpha1.SidecarSpec) {
	return func(s *v1alpha1.SidecarSpec) {
		s.Logs = &v1alpha1.LogsSpec{Path: "/var/log/app", Containers: containers}
	}
}

// mounting returns the containers that mount the shared volume, with the path.
func mounting(d *appsv1.Deployment) map[string]string {
	found := map[string]string{}
	for _, c := range d.Spec.Template.Spec.Containers {
		for _, mount := range c.VolumeMounts {
			if mount.Name == sharedVolume && c.Name != "vector" {
				found[c.Name] = mount.MountPath
			}
		}
	}
	return found
}

// shared applies a Deployment with server-side apply as its application owner, and injects the sidecar with the log
// volume in container "app".
func shared(t *testing.T, containers string) (*appsv1.Deployment, *v1alpha1.VectorSidecar) {
	t.Helper()
	namespace := world.Namespace(t)
	_, err := ownerApplies(t, namespace, `{containers: `+containers+`}`)
	require.NoError(t, err)
	deployment := cart(namespace)
	harness.Until(t, world, deployment, "its first rollout", isRolledOut)
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").Sidecar(sharesLogs("app")).Build()
	counted := countRevisions(t, deployment)
	world.Create(t, vs)
	harness.Until(t, world, vs, "readiness", isUpToDate)
	require.Equal(t, 1, counted.until(t, deployment), "container, volume and mount are one rollout")
	require.True(t, isInjected(deployment))
	require.Equal(t, map[string]string{"app": "/var/log/app"}, mounting(deployment))
	return deployment, vs
}

const app2 = `{name: app2, image: "registry.example/app:2"}`

// The application owner can rename a container that mounts the log volume, because the operator does not own the
// container.
func TestLogsSpec_AllowsContainerRename(t *testing.T) {
	t.Parallel()
	deployment, vs := shared(t, `[`+app+`]`)
	counted := countRevisions(t, deployment)

	renamed, err := ownerApplies(t, vs.Namespace, `{containers: [`+app2+`]}`)

	require.NoError(t, err, "the owner's deploy succeeds")
	require.NotContains(t, containers(renamed), "app")
	harness.Until(t, world, vs, "the result", hasCondition(meta.ConditionReady, metav1.ConditionFalse, "sidecar.logs.containers names app"))
	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { sharesLogs("*")(vs.Spec.Sidecar) })
	harness.Until(t, world, deployment, "the mount", func(d *appsv1.Deployment) bool { return mounting(d)["app2"] == "/var/log/app" })
	settle(t, deployment, vs)
	require.Equal(t, 2, counted.until(t, deployment), "the owner's change and ours")
}

// A VectorSidecar with logs.containers is deleted. One patch removes its log volume and the mounts in the application.
func TestLogsSpec_RemovesVolumeWithOnePatch(t *testing.T) {
	t.Parallel()
	for name, containers := range map[string]string{
		"the only mount": `[` + app + `]`,
		"beside others":  `[{name: web, image: "registry.example/web:1"}, {name: app, image: "registry.example/app:1", volumeMounts: [{name: cache, mountPath: /cache}]}], volumes: [{name: cache, emptyDir: {}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := world.Namespace(t)
			_, err := ownerApplies(t, namespace, `{containers: `+containers+ending(containers)+`}`)
			require.NoError(t, err)
			deployment := cart(namespace)
			world.Get(t, deployment)
			before := rawTemplate(t, deployment)
			vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").Sidecar(sharesLogs("app")).Build()
			world.Create(t, vs)
			harness.Until(t, world, vs, "readiness", isUpToDate)
			counted := countRevisions(t, deployment)

			require.NoError(t, world.Client.Delete(t.Context(), vs))

			harness.Eventually(t, "the deletion of the VectorSidecar", func() bool { return isGone(t, vs) })
			require.Equal(t, 1, counted.until(t, deployment))
			require.Equal(t, before, rawTemplate(t, deployment))
			for _, entry := range deployment.ManagedFields {
				require.False(t, meta.IsManager(entry.Manager), "manager %s is left", entry.Manager)
			}
		})
	}
}

func ending(list string) string {
	if list[len(list)-1] == ']' {
		return ""
	}
	return "]"
}

// Each change of the shared log volume takes one rollout.
func TestLogsSpec_ChangesWithOneRollout(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*v1alpha1.SidecarSpec)
		want   map[string]string
	}{
		"another path":      {func(s *v1alpha1.SidecarSpec) { s.Logs.Path = "/logs" }, map[string]string{"app": "/logs"}},
		"more containers":   {sharesLogs("*"), map[string]string{"app": "/var/log/app", "web": "/var/log/app"}},
		"another container": {sharesLogs("web"), map[string]string{"web": "/var/log/app"}},
		"the sidecar alone": {func(s *v1alpha1.SidecarSpec) { s.LogLevel = "trace" }, map[string]string{"app": "/var/log/app"}},
		"nothing any more":  {func(s *v1alpha1.SidecarSpec) { s.Logs = nil }, map[string]string{}},
		"another name":      {func(s *v1alpha1.SidecarSpec) { s.Name = "shipper" }, nil},
		"no native sidecar": {func(s *v1alpha1.SidecarSpec) { s.Native = "Never" }, map[string]string{"app": "/var/log/app"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			deployment, vs := shared(t, `[`+app+`, {name: web, image: "registry.example/web:1"}]`)
			counted := countRevisions(t, deployment)

			harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { test.change(vs.Spec.Sidecar) })

			harness.Until(t, world, vs, "readiness", func(vs *v1alpha1.VectorSidecar) bool {
				return isReady(vs) && vs.Status.ObservedGeneration == vs.Generation && vs.Status.Total().Ready == 1
			})
			require.Equal(t, 1, counted.until(t, deployment))
			if test.want != nil {
				require.Equal(t, test.want, mounting(deployment))
			}
			require.NoError(t, world.Client.Delete(t.Context(), vs))
			harness.Eventually(t, "the deletion of the VectorSidecar", func() bool { return isGone(t, vs) })
			world.Get(t, deployment)
			require.Empty(t, deployment.Spec.Template.Spec.Volumes)
			require.Equal(t, []string{"app", "web"}, containers(deployment))
		})
	}
}

// If another writer removes the mount of the log volume, the operator restores it.
func TestLogsSpec_RestoresRemovedMount(t *testing.T) {
	t.Parallel()
	deployment, vs := shared(t, `[`+app+`]`)
	run(t, vs.Namespace, "kubectl", "patch", "deployment", "cart", "--type=json",
		`--patch=[{"op": "remove", "path": "/spec/template/spec/containers/0/volumeMounts"}]`)

	harness.Until(t, world, deployment, "the mount", func(d *appsv1.Deployment) bool { return mounting(d)["app"] == "/var/log/app" })
}

// A patch overwrites fields of any field manager. So the operator checks the managers first, and reports a conflict
// with a deployment tool.
func TestLogsSpec_KeepsMountOfDeploymentTool(t *testing.T) {
	t.Parallel()
	deployment, vs := shared(t, `[`+app+`]`)
	_, err := applyAs(t, "argocd-controller", vs.Namespace, `spec: {template: {spec: {initContainers: [{name: vector, imagePullPolicy: Always}]}}}`,
		client.ForceOwnership)
	require.NoError(t, err)

	harness.Until(t, world, vs, "the conflict", func(vs *v1alpha1.VectorSidecar) bool { return vs.Status.Total().Conflicting == 1 })

	require.Contains(t, message(vs, meta.ConditionReady), `"argocd-controller"`)
	world.Get(t, deployment)
	require.EqualValues(t, "Always", deployment.Spec.Template.Spec.InitContainers[0].ImagePullPolicy)
}

// The operator stops after the patch and before the apply. The next operator completes the write without another
// rollout.
func TestLogsSpec_CompletesInterruptedWrite(t *testing.T) {
	t.Parallel()
	deployment, vs := shared(t, `[`+app+`]`)
	before := rawTemplate(t, deployment)
	counted := countRevisions(t, deployment)
	harness.Change(t, world, deployment, func(d *appsv1.Deployment) {
		var kept []metav1.ManagedFieldsEntry
		for _, entry := range d.ManagedFields {
			if entry.Operation != metav1.ManagedFieldsOperationApply || !meta.IsManager(entry.Manager) {
				kept = append(kept, entry)
			}
		}
		d.ManagedFields = kept
	})

	harness.Until(t, world, deployment, "adoption", func(d *appsv1.Deployment) bool {
		for _, entry := range d.ManagedFields {
			if entry.Operation == metav1.ManagedFieldsOperationApply && entry.Manager == meta.Manager(vs.Name) {
				return true
			}
		}
		return false
	})
	require.Equal(t, before, rawTemplate(t, deployment))
	require.Zero(t, counted.until(t, deployment))
}
