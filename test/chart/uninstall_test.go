// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"bytes"
	"context"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

// No operator runs. The uninstall Job becomes the leader and removes the sidecars.
func TestChart_RemovesSidecarsWithoutOperator(t *testing.T) {
	i := installed(t, chartDir, "--set", "leaderElection.leaseDurationSeconds=3,leaderElection.renewDeadlineSeconds=2,leaderElection.retryPeriodSeconds=1")
	cart, logs := injected(t)
	selectStatefulSetsToo(t, logs)
	i.end(syscall.SIGKILL)

	helm(t, "uninstall", release, "-n", namespace)

	requireNoTrace(t, cart)
}

// selectStatefulSetsToo adds a kind to a VectorSidecar that is not enabled in the release, which has no permission
// for it.
func selectStatefulSetsToo(t *testing.T, of *v1alpha1.VectorSidecar) {
	t.Helper()
	before := of.DeepCopy()
	of.Spec.Workloads = []v1alpha1.WorkloadKind{"Deployment", "StatefulSet"}
	require.NoError(t, cluster.Patch(t.Context(), of, client.MergeFrom(before)))
}

func TestChart_KeepsSidecarsWithOrphanPolicy(t *testing.T) {
	installed(t, chartDir, "--set", "uninstall.policy=orphan")
	cart, logs := injected(t)
	selectStatefulSetsToo(t, logs)
	template := cart.Spec.Template.DeepCopy()

	helm(t, "uninstall", release, "-n", namespace)

	requireReleaseGone(t)
	world.Get(t, cart)
	require.True(t, hasSidecar(cart))
	require.Equal(t, template, &cart.Spec.Template, "what is left is not rolled")
	var left v1alpha1.VectorSidecarList
	require.NoError(t, cluster.List(t.Context(), &left))
	require.Empty(t, left.Items, "no finalizer holds a VectorSidecar")
	configs := companions(t)
	require.NotEmpty(t, configs)
	for i := range configs {
		require.Empty(t, configs[i].OwnerReferences, "what the sidecars read is not collected")
		require.NoError(t, cluster.Delete(t.Context(), &configs[i]))
	}
}

func TestChart_RejectsUninstallWithBlockPolicy(t *testing.T) {
	i := installed(t, chartDir, "--set", "uninstall.policy=block")
	cart, logs := injected(t)

	_, complaint, err := tryHelm(t, "uninstall", release, "-n", namespace)

	require.Error(t, err)
	require.Contains(t, complaint, "job "+fullname+"-uninstall failed")
	require.Contains(t, strings.Join(i.pods.Said(), "\n"), "not uninstalling, because there still are 1 VectorSidecars: shop/logs; delete them first")
	world.Get(t, cart)
	require.True(t, hasSidecar(cart))

	// The release can be restored,
	helm(t, "rollback", release, "1", "-n", namespace)
	require.Equal(t, "deployed", status(t).Info.Status)
	// and the VectorSidecar that blocked the uninstallation can be deleted.
	require.NoError(t, cluster.Delete(t.Context(), logs))
	kubectl(t, "wait", "--for=delete", "vectorsidecars.observability.kontroloop.ai/logs", "-n", "shop", "--timeout=60s")
	helm(t, "uninstall", release, "-n", namespace)
	requireNoTrace(t, cart)
}

// A program that uses Helm's SDK has its own name as field manager. The uninstall Job removes sidecars for it only if
// uninstall.clients names it.
func TestChart_UninstallsWithNamedHelmSDKClient(t *testing.T) {
	i := installed(t, chartDir)
	cart, logs := injected(t)

	complaint, err := uninstallAs(t, "lifecycle")

	require.Error(t, err)
	require.Contains(t, complaint, "job "+fullname+"-uninstall failed")
	said := strings.Join(i.pods.Said(), "\n")
	require.Contains(t, said, `created by "lifecycle", which is not a known Helm client; nothing is changed`)
	require.Contains(t, said, "add it to uninstall.clients")
	requireUntouched(t, cart, logs)

	helm(t, "rollback", release, "1", "-n", namespace)
	helm(t, "upgrade", release, chartDir, "-n", namespace, "--set", "uninstall.clients={installer,lifecycle}")
	complaint, err = uninstallAs(t, "lifecycle")
	require.NoError(t, err, complaint)
	requireNoTrace(t, cart)
}

// After a rollback, helm uninstall runs the hooks of that revision, which remove the sidecars.
func TestChart_UninstallsAfterRollback(t *testing.T) {
	i := installed(t, chartDir)
	cart, _ := injected(t)
	helm(t, "upgrade", release, chartDir, "-n", namespace, "--set", "uninstall.hook=false,concurrency=2")
	i.restarted(t)
	helm(t, "rollback", release, "1", "-n", namespace)
	i.restarted(t)

	helm(t, "uninstall", release, "-n", namespace)

	requireNoTrace(t, cart)
}

// uninstallAs uninstalls the release by Helm's SDK in a program of some name, and returns its error output.
func uninstallAs(t *testing.T, name string) (complaint string, err error) {
	t.Helper()
	bin, err := plane.Bin("helm-sdk")
	require.NoError(t, err)
	var stderr bytes.Buffer
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), bin, namespace, release)
	cmd.Args[0], cmd.Stderr = name, &stderr
	cmd.Env = []string{"KUBECONFIG=" + plane.Kubeconfig(), "HOME=" + t.TempDir()}
	err = cmd.Run()
	return stderr.String(), err
}

// The operator loses its permissions before it can release its Lease. The uninstallation deletes the Lease, so that the
// next release does not wait, and no standby creates it again.
func TestChart_DeletesLeaseOnUninstall(t *testing.T) {
	for name, settings := range map[string]string{
		"of the whole cluster":        "uninstall.policy=eject",
		"of one namespace":            "watchNamespaces={shop}",
		"where nothing is in the way": "uninstall.policy=block",
	} {
		t.Run(name, func(t *testing.T) {
			i := installed(t, chartDir, "--set", settings)
			i.awaitLeader(t)
			standsBy := harness.NewStandIn(t, plane, cluster, namespace).Operator(t, fullname)

			helm(t, "uninstall", release, "-n", namespace)
			requireReleaseGone(t)
			i.end(syscall.SIGTERM)
			standsBy(syscall.SIGTERM)
			require.True(t, isWithoutLease(t))
		})
	}
}

// helm test fails if no operator is the leader.
func TestChart_FailsHelmTestWithoutOperator(t *testing.T) {
	i := installed(t, chartDir, "--set", "helmTest.timeoutSeconds=2")
	// An operator that stops before it is the leader releases no Lease.
	i.awaitLeader(t)
	i.end(syscall.SIGINT)
	// Helm keeps the pod of a failed test.
	t.Cleanup(func() { kubectl(t, "delete", "pods", "-n", namespace, "-l", "app.kubernetes.io/instance="+release) })

	_, complaint, err := tryHelm(t, "test", release, "-n", namespace)

	require.Error(t, err, complaint)
	require.Contains(t, strings.Join(i.pods.Said(), "\n"), "an operator owns the Lease: Lease "+namespace+"/"+fullname+" has no holder")
}
