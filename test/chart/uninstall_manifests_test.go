// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	example "kontroloop.ai/vector-sidecar-operator/test/objects"
)

// A user applies the rendered manifests, so that the Job of the uninstall hook runs at once. It removes nothing.
func TestChart_UninstallsNothingFromRenderedManifests(t *testing.T) {
	i := installed(t, chartDir)
	t.Cleanup(func() { deleteUninstallJob(t) })
	cart, logs := injected(t)
	rollouts := cart.Generation
	rendered := filepath.Join(t.TempDir(), "rendered.yaml")
	require.NoError(t, os.WriteFile(rendered, helm(t, "template", release, chartDir, "-n", namespace, "--skip-tests"), 0o600))

	for _, way := range []struct {
		name    string
		apply   func(t *testing.T)
		manager string
	}{
		{"by kubectl", func(t *testing.T) {
			kubectl(t, "apply", "-f", rendered)
		}, "kubectl-client-side-apply"},
		{"by kubectl on the server's side", func(t *testing.T) {
			kubectl(t, "apply", "--server-side", "--force-conflicts", "-f", rendered)
		}, "kubectl"},
		{"by kustomize", func(t *testing.T) {
			kubectl(t, "apply", "-k", kustomization(t, "resources: [rendered.yaml]", rendered))
		}, "kubectl-client-side-apply"},
		{"by kustomize's Helm generator", func(t *testing.T) {
			kubectl(t, "apply", "-f", generated(t))
		}, "kubectl-client-side-apply"},
		{"by kubectl create", func(t *testing.T) {
			_, _, err := tryKubectl(t, "create", "-f", rendered)
			require.Error(t, err, "all but the Job is there")
		}, "kubectl-create"},
	} {
		t.Run(way.name, func(t *testing.T) {
			deleteUninstallJob(t)
			before := len(i.pods.Said())

			way.apply(t)

			job := awaitJob(t)
			requireUntouched(t, cart, logs)
			require.Equal(t, rollouts, cart.Generation)
			require.True(t, hasCondition(job, batchv1.JobComplete), "who applies manifests is to see no failure")
			said := strings.Join(i.pods.Said()[before:], "\n")
			require.Contains(t, said, `changes nothing, because "`+way.manager+`" created it`)
			require.Contains(t, said, "delete 1 VectorSidecars: shop/logs")
		})
	}

	// Helm still knows the release.
	helm(t, "uninstall", release, "-n", namespace)
	requireNoTrace(t, cart)
}

// The install.yaml of a release installs an operator that injects sidecars. A second application changes nothing.
func TestChart_InstallsByServerSideApply(t *testing.T) {
	removeDefinition(t)
	folder := t.TempDir()
	bin, err := plane.Bin("helm")
	require.NoError(t, err)
	require.NoError(t, os.Symlink(bin, filepath.Join(folder, "helm")))
	command := exec.CommandContext(t.Context(), "make", "-C", root, "--old-file="+folder+"/helm", "install-manifest", "BIN="+folder)
	command.Env = append(os.Environ(), "MAKEFLAGS=") // The flags of the make that runs the tests do not apply.
	printed, err := command.CombinedOutput()
	require.NoError(t, err, "%s", printed)
	file := filepath.Join(folder, "install.yaml")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	all := objects(t, text)
	t.Cleanup(func() {
		takeAway(t)
		for _, object := range all[1:] { // The namespace comes first, and other tests need it.
			if object.GetKind() == crdKind { // The next release adopts it.
				kubectl(t, "annotate", "--overwrite", "crd", object.GetName(), "meta.helm.sh/release-name="+release, "meta.helm.sh/release-namespace="+namespace)
			} else {
				require.NoError(t, client.IgnoreNotFound(cluster.Delete(context.WithoutCancel(t.Context()), object.DeepCopy())))
			}
		}
	})

	kubectl(t, "apply", "--server-side", "-f", file)

	count := map[string]int{}
	for _, object := range all {
		count[object.GetKind()]++
		require.True(t, exists(t, object), "%s %q", object.GetKind(), object.GetName())
		require.Empty(t, object.GetAnnotations()["helm.sh/hook"], "%s %q", object.GetKind(), object.GetName())
	}
	require.Equal(t, 3, count[crdKind])
	for _, kind := range []string{"Namespace", "Deployment", "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"} {
		require.NotZero(t, count[kind], kind)
	}
	(*installation)(nil).awaitServed(t)
	harness.NewStandIn(t, plane, cluster, namespace).Operator(t, fullname)
	cart, _ := injected(t)

	before := contentOfAll(t, all)
	kubectl(t, "apply", "--server-side", "-f", file)
	require.Equal(t, before, contentOfAll(t, all))
	world.Get(t, cart)
	require.True(t, hasSidecar(cart))
}

// contentOfAll returns the live objects with their generations, without the status and the fields that each write changes.
func contentOfAll(t *testing.T, all []*unstructured.Unstructured) (contents []map[string]any) {
	t.Helper()
	for _, object := range all {
		live := &unstructured.Unstructured{}
		live.SetGroupVersionKind(object.GroupVersionKind())
		require.NoError(t, cluster.Get(t.Context(), client.ObjectKeyFromObject(object), live))
		live.SetResourceVersion("")
		live.SetManagedFields(nil)
		delete(live.Object, "status")
		contents = append(contents, live.Object)
	}
	return contents
}

// The uninstall Job removes sidecars only if its managedFields name Helm, Argo CD or another known client as its
// creator.
func TestChart_UninstallsOnlyForKnownClients(t *testing.T) {
	i := installed(t, chartDir)
	asArgoCD := rest.CopyConfig(plane.Config())
	asArgoCD.UserAgent = "argocd-application-controller/v3.5.1 (linux/amd64)"
	argoCD, err := client.New(asArgoCD, client.Options{})
	require.NoError(t, err)

	for _, who := range []struct {
		name   string
		create func(*unstructured.Unstructured) error
		known  bool
		says   string
	}{
		{"somebody", func(object *unstructured.Unstructured) error {
			return cluster.Create(t.Context(), object, client.FieldOwner("deployer"))
		}, false, `created by "deployer", which is not a known Helm client`},
		{"Helm 4", func(object *unstructured.Unstructured) error {
			return cluster.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("helm"))
		}, true, "all VectorSidecars are deleted"},
		{"Argo CD, before it deletes an application", func(object *unstructured.Unstructured) error {
			return argoCD.Create(t.Context(), object)
		}, true, "all VectorSidecars are deleted"},
	} {
		t.Run(who.name, func(t *testing.T) {
			logs := example.NewVectorSidecar("logs", "shop").Selecting("logs", "vector").Build()
			require.NoError(t, client.IgnoreAlreadyExists(cluster.Create(t.Context(), logs)))
			before := len(i.pods.Said())

			createUninstallJob(t, who.create)

			job := awaitJob(t)
			err := cluster.Get(t.Context(), client.ObjectKeyFromObject(logs), logs)
			require.Equal(t, who.known, apierrors.IsNotFound(err), "%v", err)
			require.Equal(t, who.known, hasCondition(job, batchv1.JobComplete))
			said := strings.Join(i.pods.Said()[before:], "\n")
			require.Contains(t, said, who.says)
			require.Equal(t, !who.known, strings.Contains(said, "kubectl delete vectorsidecars.observability.kontroloop.ai --all -A"))
		})
	}
}

// createUninstallJob creates the Job of the uninstall hook, with its account and permissions, for the duration of
// the test.
func createUninstallJob(t *testing.T, create func(*unstructured.Unstructured) error) {
	t.Helper()
	rendered := helm(t, "template", release, chartDir, "-n", namespace, "--show-only", "templates/uninstall-rights.yaml", "--show-only", "templates/uninstall-job.yaml")
	all := objects(t, rendered)
	t.Cleanup(func() {
		for _, object := range all {
			err := cluster.Delete(context.WithoutCancel(t.Context()), object.DeepCopy(), client.PropagationPolicy(metav1.DeletePropagationBackground))
			require.NoError(t, client.IgnoreNotFound(err)) // A Job's pods would stay otherwise.
		}
	})
	slices.SortFunc(all, func(a, b *unstructured.Unstructured) int { // The Job comes last, as by its weight.
		return strings.Compare(a.GetAnnotations()["helm.sh/hook-weight"], b.GetAnnotations()["helm.sh/hook-weight"])
	})
	for _, object := range all {
		require.NoError(t, create(object.DeepCopy()))
	}
}

// kustomization creates a folder with a kustomization.yaml and the given files.
func kustomization(t *testing.T, text string, files ...string) string {
	t.Helper()
	folder := t.TempDir()
	for _, file := range files {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(folder, filepath.Base(file)), content, 0o600))
	}
	require.NoError(t, os.WriteFile(filepath.Join(folder, "kustomization.yaml"), []byte(text), 0o600))
	return folder
}

// generated writes a file with the output of kustomize's Helm generator for the chart.
func generated(t *testing.T) string {
	t.Helper()
	folder := kustomization(t, `
helmCharts:
  - name: chart
    releaseName: `+release+`
    namespace: `+namespace+`
    skipTests: true
`)
	require.NoError(t, os.CopyFS(filepath.Join(folder, "charts", "chart"), os.DirFS(chartDir)))
	bin, err := plane.Bin("helm")
	require.NoError(t, err)
	file := filepath.Join(folder, "generated.yaml")
	require.NoError(t, os.WriteFile(file, []byte(kubectl(t, "kustomize", "--enable-helm", "--helm-command", bin, folder)), 0o600))
	return file
}

func deleteUninstallJob(t *testing.T) {
	t.Helper()
	kubectl(t, "delete", "job", fullname+"-uninstall", "-n", namespace, "--ignore-not-found")
}

// requireUntouched requires that a VectorSidecar is not deleted and its sidecar is in place.
func requireUntouched(t *testing.T, cart *appsv1.Deployment, logs *v1alpha1.VectorSidecar) {
	t.Helper()
	world.Get(t, logs)
	require.Nil(t, logs.DeletionTimestamp)
	world.Get(t, cart)
	require.True(t, hasSidecar(cart))
}

// awaitJob waits until the Job of the uninstall hook has ended.
func awaitJob(t *testing.T) *batchv1.Job {
	t.Helper()
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fullname + "-uninstall"}}
	harness.Until(t, world, job, "its end", func(job *batchv1.Job) bool {
		return hasCondition(job, batchv1.JobComplete) || hasCondition(job, batchv1.JobFailed)
	})
	return job
}

func hasCondition(job *batchv1.Job, kind batchv1.JobConditionType) bool {
	for _, condition := range job.Status.Conditions {
		if condition.Type == kind && condition.Status == "True" {
			return true
		}
	}
	return false
}
