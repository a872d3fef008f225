// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/test/controlplane"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// manifest returns the application owner's manifest for a version of the application.
func manifest(version string) string {
	return `apiVersion: apps/v1
kind: Deployment
metadata:
  name: cart
  labels: {logs: vector}
  annotations: {team: payments}
spec:
  selector: {matchLabels: {app: cart}}
  template:
    metadata: {labels: {app: cart}}
    spec:
      initContainers:
        - {name: migrate, image: "registry.example/migrate:` + version + `"}
      containers:
        - name: app
          image: "registry.example/app:` + version + `"
          env: [{name: VERSION, value: "` + version + `"}]
          volumeMounts: [{name: cache, mountPath: /cache}]
      volumes:
        - {name: cache, emptyDir: {}}
`
}

// file writes a manifest to a new file.
func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "cart.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// chart writes a chart of the application; its only value is the version.
func chart(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "templates"), 0o700))
	for name, text := range map[string]string{
		"Chart.yaml":          "apiVersion: v2\nname: cart\nversion: 1.0.0\n",
		"templates/cart.yaml": manifest("{{ .Values.version }}"),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

// run runs an application owner's tool, without the settings of the user that runs the test, and requires success.
func run(t *testing.T, namespace, tool string, args ...string) {
	t.Helper()
	said, err := tryRun(t, namespace, tool, args...)
	require.NoError(t, err, "%s %s\n%s", tool, strings.Join(args, " "), said)
}

// refused is run for a command that fails, and returns its output.
func refused(t *testing.T, namespace, tool string, args ...string) string {
	t.Helper()
	said, err := tryRun(t, namespace, tool, args...)
	require.Error(t, err, said)
	return said
}

func tryRun(t *testing.T, namespace, tool string, args ...string) (said string, err error) {
	t.Helper()
	path, err := controlplane.Bin(tool)
	require.NoError(t, err)
	command := exec.CommandContext(context.WithoutCancel(t.Context()), path, append([]string{"--namespace=" + namespace}, args...)...)
	// All commands share one discovery cache, because the API of the cluster does not change.
	home := filepath.Dir(kubeconfig)
	command.Env = []string{"KUBECONFIG=" + kubeconfig, "HOME=" + home, "PATH=" + os.Getenv("PATH")}
	text, err := command.CombinedOutput()
	return string(text), err
}

// revisions counts the pod templates of a Deployment. It watches all writes, also writes that the Deployment
// controller misses.
type revisions struct {
	mu             sync.Mutex
	template, seen string
	count          int
}

func countRevisions(t *testing.T, deployment *appsv1.Deployment) *revisions {
	t.Helper()
	world.Get(t, deployment)
	r := &revisions{template: templateOf(deployment), seen: deployment.ResourceVersion}
	world.Watch(t, &appsv1.DeploymentList{}, func(object client.Object) {
		if d, ok := object.(*appsv1.Deployment); ok {
			r.see(d)
		}
	}, client.InNamespace(deployment.Namespace), client.MatchingFields{"metadata.name": deployment.Name})
	return r
}

func (r *revisions) see(d *appsv1.Deployment) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if template := templateOf(d); template != r.template {
		r.template, r.count = template, r.count+1
	}
	r.seen = d.ResourceVersion
}

// until waits until all writes before its call are counted, and returns the count.
func (r *revisions) until(t *testing.T, deployment *appsv1.Deployment) int {
	t.Helper()
	harness.Eventually(t, "a current watch", func() bool {
		world.Get(t, deployment)
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.seen == deployment.ResourceVersion
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.count
}

func templateOf(d *appsv1.Deployment) string {
	text, err := json.Marshal(d.Spec.Template)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// settle waits until the operator has reconciled all earlier changes of a Deployment and is ready.
func settle(t *testing.T, deployment *appsv1.Deployment, vs *v1alpha1.VectorSidecar) {
	t.Helper()
	harness.Change(t, world, deployment, func(d *appsv1.Deployment) { metav1.SetMetaDataLabel(&d.ObjectMeta, "seen", "yes") })
	witness := objects.NewVectorSidecar("witness", deployment.Namespace).Selecting("seen", "yes").Disabled().Build()
	world.Create(t, witness)
	harness.Until(t, world, witness, "the Deployment in the cache", func(vs *v1alpha1.VectorSidecar) bool {
		return vs.Status.MatchedDeployments == 1
	})
	require.NoError(t, world.Client.Delete(t.Context(), witness))
	harness.Change(t, world, deployment, func(d *appsv1.Deployment) { delete(d.Labels, "seen") })
	harness.Until(t, world, deployment, "the sidecar", isInjected)
	harness.Until(t, world, vs, "readiness", isUpToDate)
}

// kubectlApply deploys version 1.
func kubectlApply(t *testing.T, namespace string) {
	t.Helper()
	run(t, namespace, "kubectl", "apply", "-f", file(t, manifest("1")))
}

// The application owner deploys over an injected workload. The tool succeeds, and the workload has its manifest and the
// sidecar. If the tool removed the sidecar, restoring it is the only additional pod template.
func TestVectorSidecar_SupportsDeploysOfApplication(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		// deploy is the first deployment; nil for kubectl apply.
		deploy func(t *testing.T, namespace string)
		// write is the owner's change of the injected workload.
		write func(t *testing.T, namespace string)
		// version is the expected version of the manifest.
		version string
		// revisions counts pod templates, writes counts requests of the operator.
		revisions, writes int
	}{
		// The sidecar's items are not in the owner's lists, and stay. One template: the owner's new image. No write
		// of the operator.
		"kubectl apply": {
			write: func(t *testing.T, ns string) {
				run(t, ns, "kubectl", "apply", "-f", file(t, manifest("2")))
			},
			version: "2", revisions: 1,
		},
		"kubectl apply of the same": {
			write:   func(t *testing.T, ns string) { run(t, ns, "kubectl", "apply", "-f", file(t, manifest("1"))) },
			version: "1",
		},
		"kubectl apply --server-side": {
			deploy: func(t *testing.T, ns string) {
				run(t, ns, "kubectl", "apply", "--server-side", "-f", file(t, manifest("1")))
			},
			write: func(t *testing.T, ns string) {
				run(t, ns, "kubectl", "apply", "--server-side", "-f", file(t, manifest("2")))
			},
			version: "2", revisions: 1,
		},
		"kubectl apply --server-side --force-conflicts": {
			deploy: func(t *testing.T, ns string) {
				run(t, ns, "kubectl", "apply", "--server-side", "-f", file(t, manifest("1")))
			},
			write: func(t *testing.T, ns string) {
				run(t, ns, "kubectl", "apply", "--server-side", "--force-conflicts", "-f", file(t, manifest("2")))
			},
			version: "2", revisions: 1,
		},
		"from client-side to server-side apply": {
			write: func(t *testing.T, ns string) {
				run(t, ns, "kubectl", "apply", "--server-side", "-f", file(t, manifest("2")))
			},
			version: "2", revisions: 1,
		},
		"helm upgrade": {
			deploy: func(t *testing.T, ns string) {
				run(t, ns, "helm", "install", "cart", chart(t), "--set-string=version=1")
			},
			write: func(t *testing.T, ns string) {
				run(t, ns, "helm", "upgrade", "cart", chart(t), "--set-string=version=2")
			},
			version: "2", revisions: 1,
		},
		// Two templates of the owner: version 2, and version 1 again.
		"helm rollback": {
			deploy: func(t *testing.T, ns string) {
				run(t, ns, "helm", "install", "cart", chart(t), "--set-string=version=1")
			},
			write: func(t *testing.T, ns string) {
				run(t, ns, "helm", "upgrade", "cart", chart(t), "--set-string=version=2")
				run(t, ns, "helm", "rollback", "cart", "1")
			},
			version: "1", revisions: 2,
		},
		// The tool replaces the whole object, and so removes the sidecar. The operator restores it with a second
		// template. Two requests: one more orders the native sidecar before the owner's init container, and creates
		// no revision.
		"kubectl replace": {
			write: func(t *testing.T, ns string) {
				run(t, ns, "kubectl", "replace", "-f", file(t, manifest("2")))
			},
			version: "2", revisions: 2, writes: 2,
		},
		// The revision before the injection, and the operator's again.
		"kubectl rollout undo to before the injection": {
			write:   func(t *testing.T, ns string) { run(t, ns, "kubectl", "rollout", "undo", "deployment/cart") },
			version: "1", revisions: 2, writes: 2,
		},
		// Version 2 and version 1 of the owner, both with the sidecar.
		"kubectl rollout undo of the owner's own change": {
			write: func(t *testing.T, ns string) {
				run(t, ns, "kubectl", "apply", "-f", file(t, manifest("2")))
				run(t, ns, "kubectl", "rollout", "status", "deployment/cart", "--timeout=60s")
				run(t, ns, "kubectl", "rollout", "undo", "deployment/cart")
			},
			version: "1", revisions: 2,
		},
		"kubectl set image": {
			write: func(t *testing.T, ns string) {
				run(t, ns, "kubectl", "set", "image", "deployment/cart", "app=registry.example/app:2", "migrate=registry.example/migrate:2")
				run(t, ns, "kubectl", "set", "env", "deployment/cart", "--containers=app", "VERSION=2")
			},
			// One for each of the owner's two commands.
			version: "2", revisions: 2,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := world.Namespace(t)
			deploy := test.deploy
			if deploy == nil {
				deploy = kubectlApply
			}
			deploy(t, namespace)
			deployment, vs := inject(t, namespace)
			counted := countRevisions(t, deployment)
			written := len(running.Requests.Writes("/namespaces/" + namespace + "/deployments"))

			test.write(t, namespace)

			settle(t, deployment, vs)
			require.Equal(t, test.revisions, counted.until(t, deployment), "revisions of the pod template")
			require.Len(t, running.Requests.Writes("/namespaces/"+namespace+"/deployments"), written+test.writes)
			require.Equal(t, deployment.Annotations["vectorsidecar.observability.kontroloop.ai/injected-hash"], vs.Status.InjectedHash)
			require.Equal(t, "vector", initContainers(deployment)[0], "the sidecar is first")
			require.NoError(t, world.Client.Delete(t.Context(), vs))
			harness.Until(t, world, deployment, "removal", isClean)
			require.JSONEq(t, rawTemplate(t, fresh(t, test.version)), rawTemplate(t, deployment), "the rest is as the owner wrote it")
			require.Equal(t, "payments", deployment.Annotations["team"])
		})
	}
}

// inject creates a VectorSidecar for Deployment cart of a namespace, and waits until it has rolled out.
func inject(t *testing.T, namespace string) (*appsv1.Deployment, *v1alpha1.VectorSidecar) {
	t.Helper()
	deployment := cart(namespace)
	harness.Until(t, world, deployment, "its first rollout", isRolledOut)
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").Build()
	world.Create(t, vs)
	harness.Until(t, world, vs, "readiness", isUpToDate)
	return deployment, vs
}

// fresh creates a Deployment of the owner's manifest in a namespace without a VectorSidecar.
func fresh(t *testing.T, version string) *appsv1.Deployment {
	t.Helper()
	deployment := &appsv1.Deployment{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(manifest(version)), deployment))
	deployment.Namespace = world.Namespace(t)
	deployment.Spec.Replicas = new(int32)
	world.Create(t, deployment)
	return deployment
}

// kubectl rollout restart causes one revision, and no write of the operator.
func TestVectorSidecar_KeepsRestartAtOneRevision(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	kubectlApply(t, namespace)
	deployment, vs := inject(t, namespace)
	counted := countRevisions(t, deployment)
	written := len(running.Requests.Writes("/namespaces/" + namespace + "/deployments"))

	run(t, namespace, "kubectl", "rollout", "restart", "deployment/cart")

	settle(t, deployment, vs)
	require.Equal(t, 1, counted.until(t, deployment))
	require.Contains(t, deployment.Spec.Template.Annotations, "kubectl.kubernetes.io/restartedAt")
	require.Len(t, running.Requests.Writes("/namespaces/"+namespace+"/deployments"), written)
}

// Scaling causes no revision and no write of the operator, and the number of replicas stays.
func TestVectorSidecar_IgnoresScaling(t *testing.T) {
	t.Parallel()
	for name, scale := range map[string]func(t *testing.T, namespace string){
		"kubectl scale": func(t *testing.T, namespace string) {
			t.Helper()
			run(t, namespace, "kubectl", "scale", "deployment/cart", "--replicas=3")
		},
		"an autoscaler": autoscale,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := world.Namespace(t)
			kubectlApply(t, namespace)
			deployment, vs := inject(t, namespace)
			counted := countRevisions(t, deployment)
			written := len(running.Requests.Writes("/namespaces/" + namespace + "/deployments"))

			scale(t, namespace)

			settle(t, deployment, vs)
			require.Zero(t, counted.until(t, deployment))
			require.EqualValues(t, 3, *deployment.Spec.Replicas)
			require.Len(t, running.Requests.Writes("/namespaces/"+namespace+"/deployments"), written)
		})
	}
}

// autoscale writes the scale subresource ten times a second for three seconds, as an oscillating autoscaler does,
// and ends at 3.
func autoscale(t *testing.T, namespace string) {
	t.Helper()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for i := range 30 {
		<-ticker.C
		scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: int32(1 + i%3)}}
		require.NoError(t, world.Client.SubResource("scale").Update(t.Context(), cart(namespace), client.WithSubResourceBody(scale)))
	}
}

// The number of replicas changes all the time. A change of the sidecar is rolled out exactly once.
func TestVectorSidecar_RollsOutOnceDuringScaling(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	kubectlApply(t, namespace)
	deployment, vs := inject(t, namespace)
	counted := countRevisions(t, deployment)
	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: "trace"} })

	autoscale(t, namespace)

	settle(t, deployment, vs)
	require.Equal(t, 1, counted.until(t, deployment))
	require.Equal(t, "trace", logLevel(deployment))
	require.EqualValues(t, 3, *deployment.Spec.Replicas)
}

// After kubectl rollout undo, the workload has an old sidecar. The operator updates it with one more revision.
func TestVectorSidecar_UpdatesOldSidecarAfterUndo(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	kubectlApply(t, namespace)
	deployment, vs := inject(t, namespace)
	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: "trace"} })
	harness.Until(t, world, deployment, "the new sidecar", func(d *appsv1.Deployment) bool { return logLevel(d) == "trace" })
	run(t, namespace, "kubectl", "rollout", "status", "deployment/cart", "--timeout=60s")
	counted := countRevisions(t, deployment)

	run(t, namespace, "kubectl", "rollout", "undo", "deployment/cart")

	settle(t, deployment, vs)
	require.Equal(t, "trace", logLevel(deployment))
	require.Equal(t, 2, counted.until(t, deployment))

	require.NoError(t, world.Client.Delete(t.Context(), vs))
	harness.Until(t, world, deployment, "removal, though the undo made kubectl an owner of the sidecar too", isClean)
}

// After kubectl rollout undo, the workload has the sidecar under an old container name. The operator replaces it with
// the current one.
func TestVectorSidecar_RemovesRenamedSidecarAfterUndo(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	kubectlApply(t, namespace)
	deployment, vs := inject(t, namespace)
	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Sidecar = &v1alpha1.SidecarSpec{Name: "shipper"} })
	harness.Until(t, world, deployment, "the new name", func(d *appsv1.Deployment) bool { return carries(d, "shipper") && isClean(d) })
	run(t, namespace, "kubectl", "rollout", "status", "deployment/cart", "--timeout=60s")

	run(t, namespace, "kubectl", "rollout", "undo", "deployment/cart")

	harness.Until(t, world, deployment, "a single sidecar", func(d *appsv1.Deployment) bool { return carries(d, "shipper") && isClean(d) })
}

// While the VectorSidecar is disabled, a user runs kubectl rollout undo to a template with the sidecar. When it is
// enabled again, that sidecar is no conflict.
func TestVectorSidecar_InjectsAgainAfterUndo(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	kubectlApply(t, namespace)
	deployment, vs := inject(t, namespace)
	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Enabled = new(bool) })
	harness.Until(t, world, deployment, "removal", isClean)
	run(t, namespace, "kubectl", "rollout", "status", "deployment/cart", "--timeout=60s")
	run(t, namespace, "kubectl", "rollout", "undo", "deployment/cart", "--to-revision=2")

	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Enabled = nil })

	harness.Until(t, world, vs, "readiness", isUpToDate)
}
