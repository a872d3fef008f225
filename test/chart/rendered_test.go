// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

// To whoever applies what the chart renders, the Job before uninstalling is a Job like
// any other. The release stays, and so does what it injected.
func TestRenderedManifestsThatAreAppliedUninstallNothing(t *testing.T) {
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
			require.Contains(t, said, `made by "`+way.manager+`"`)
			require.Contains(t, said, "nothing is changed")
			require.Contains(t, said, "delete 1 VectorSidecars: shop/logs")
		})
	}

	// It is a release still.
	helm(t, "uninstall", release, "-n", namespace)
	requireNoTrace(t, cart)
}

// What nobody is known to make proves nothing, and the release is not to go without it.
func TestAJobOfSomebodyElseFails(t *testing.T) {
	i := installed(t, chartDir)
	t.Cleanup(func() { deleteUninstallJob(t) })
	cart, logs := injected(t)

	for _, object := range objects(t, helm(t, "template", release, chartDir, "-n", namespace, "--show-only", "templates/uninstall-rights.yaml", "--show-only", "templates/uninstall-job.yaml")) {
		require.NoError(t, cluster.Create(t.Context(), object, client.FieldOwner("deployer")))
		t.Cleanup(func() { _ = cluster.Delete(t.Context(), object) })
	}

	job := awaitJob(t)
	requireUntouched(t, cart, logs)
	require.True(t, hasCondition(job, batchv1.JobFailed))
	said := strings.Join(i.pods.Said(), "\n")
	require.Contains(t, said, `made by "deployer"`)
	require.Contains(t, said, "kubectl delete vectorsidecars.observability.kontroloop.ai --all -A")
}

// kustomization is a folder with a kustomization.yaml and with these files.
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

// generated is a file with what kustomize's Helm generator makes of the chart.
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

// requireUntouched finds a VectorSidecar that nobody deletes, and its sidecar.
func requireUntouched(t *testing.T, cart *appsv1.Deployment, logs *v1alpha1.VectorSidecar) {
	t.Helper()
	world.Get(t, logs)
	require.Nil(t, logs.DeletionTimestamp)
	world.Get(t, cart)
	require.True(t, carries(cart))
}

// awaitJob waits until the Job before uninstalling has ended.
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
