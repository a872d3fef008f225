// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/controlplane"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// planned is the number of workloads in the plan.
const planned = 1000

// A plan for a thousand workloads is correct and writes nothing. The test logs the duration, but does not limit it,
// because machines differ.
func testAPlanOverAThousandWorkloadsWritesNothing(t *testing.T, plane *controlplane.ControlPlane, w *harness.World) {
	namespace := w.Namespace(t)
	for i := range planned {
		w.Create(t, objects.NewDeployment(fmt.Sprintf("w%04d", i), namespace).Labeled("logs", "vector").
			WithEmptyDir("logs", "/var/log/app").WithReplicas(3).Build())
	}
	for name, sidecar := range map[string]*objects.VectorSidecar{
		"one rendering for all":        objects.NewVectorSidecar("logs", namespace),
		"a rendering for each of them": objects.NewVectorSidecar("logs", namespace).WithLogs("/var/log/app"),
	} {
		t.Run(name, func(t *testing.T) {
			object := sidecar.Selecting("logs", "vector").Build()
			w.Create(t, object)
			t.Cleanup(func() { remove(t, w, []client.Object{object}) })
			before := writes(t, w)
			began := time.Now()

			out := runs(t, "plan", "--kubeconfig", plane.Kubeconfig(), "-n", namespace)

			t.Logf("a plan over %d workloads took %s", planned, time.Since(began).Round(time.Millisecond))
			require.Contains(t, string(out), "1000 workloads, 3000 pods would restart in 200 batches: inject 1000\n")
			require.Equal(t, before, writes(t, w), "by the API server's own count")
		})
	}
}

var written = regexp.MustCompile(`^apiserver_request_total\{.*resource="(deployments|configmaps|vectorsidecars|namespaces|events)".*verb="(POST|PUT|PATCH|APPLY|DELETE|DELETECOLLECTION)".*\} (\S+)$`)

// writes returns the API server's counts of write requests for the plugin's resources.
func writes(t *testing.T, w *harness.World) map[string]float64 {
	t.Helper()
	server, err := kubernetes.NewForConfig(w.Config)
	require.NoError(t, err)
	text, err := server.Discovery().RESTClient().Get().AbsPath("/metrics").DoRaw(t.Context())
	require.NoError(t, err)
	counts := map[string]float64{}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		if match := written.FindStringSubmatch(lines.Text()); match != nil {
			n, err := strconv.ParseFloat(match[3], 64)
			require.NoError(t, err)
			counts[match[1]+" "+match[2]] += n
		}
	}
	require.NotEmpty(t, counts, "the workloads were created, and that is counted")
	return maps.Clone(counts)
}

// restore restores a workload from a backup with kubectl apply: no field manager of the operator is recorded for
// the injected fields.
func restore(t *testing.T, w *harness.World, deployment *appsv1.Deployment) {
	t.Helper()
	w.Get(t, deployment)
	w.Delete(t, deployment)
	deployment.ObjectMeta = metav1.ObjectMeta{Namespace: deployment.Namespace, Name: deployment.Name, Labels: deployment.Labels, Annotations: deployment.Annotations}
	require.NoError(t, w.Client.Create(t.Context(), deployment, client.FieldOwner("kubectl-client-side-apply")))
}

// share applies the whole workload as its application owner, sidecars included, so that both own them.
func share(t *testing.T, w *harness.World, deployment *appsv1.Deployment) {
	t.Helper()
	w.Get(t, deployment)
	applied := deployment.DeepCopy()
	applied.TypeMeta = metav1.TypeMeta{APIVersion: appsv1.SchemeGroupVersion.String(), Kind: "Deployment"}
	applied.ManagedFields, applied.ResourceVersion = nil, ""
	text, err := json.Marshal(applied)
	require.NoError(t, err)
	require.NoError(t, w.Client.Patch(t.Context(), applied, client.RawPatch(types.ApplyPatchType, text), client.FieldOwner("argocd"), client.ForceOwnership))
}

// After the injection, the operator is removed before its VectorSidecars. Their finalizers would block them, and
// their namespaces, forever.
func testEjectCleansAClusterWhoseOperatorIsGone(t *testing.T, plane *controlplane.ControlPlane, w *harness.World) {
	w.SetValues(t, emptyValues())
	running := w.RunOperator(options)
	namespaces := []string{w.Namespace(t), w.Namespace(t)}
	var deployments []*appsv1.Deployment
	pristine := map[string]*appsv1.Deployment{}
	for _, namespace := range namespaces {
		w.Create(t, objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithMaxConcurrent("100%").Build())
		orphan := objects.NewVectorSidecar("other", namespace).Selecting("logs", "vector").Named("other").
			Sidecar(func(s *v1alpha1.SidecarSpec) {
				port, health := int32(9599), int32(8687)
				s.Metrics, s.Health = &v1alpha1.MetricsSpec{Port: &port}, &v1alpha1.HealthSpec{Port: &health}
			}).Build()
		orphan.Spec.DeletionPolicy = v1alpha1.DeletionOrphan
		w.Create(t, orphan)
		for i := range 6 {
			deployment := objects.NewDeployment(fmt.Sprintf("w%d", i), namespace).Labeled("logs", "vector").WithInitContainer("migrate").Build()
			w.Create(t, deployment)
			pristine[namespace+deployment.Name] = bare(deployment)
			deployments = append(deployments, deployment)
		}
	}
	for _, deployment := range deployments {
		harness.Until(t, w, deployment, "both sidecars", func(d *appsv1.Deployment) bool {
			return len(d.Spec.Template.Spec.InitContainers) == 3
		})
	}
	require.NoError(t, running.Stop())
	restore(t, w, deployments[0])
	share(t, w, deployments[1])
	// One VectorSidecar is already being deleted, and no operator removes its finalizer.
	stuck := &v1alpha1.VectorSidecar{}
	stuck.Namespace, stuck.Name = namespaces[0], "logs"
	require.NoError(t, w.Client.Delete(t.Context(), stuck))
	w.Get(t, stuck)
	require.Equal(t, []string{meta.Finalizer}, stuck.Finalizers)

	out := runs(t, "eject", "--kubeconfig", plane.Kubeconfig(), "-n", namespaces[0], "--dry-run")
	require.Contains(t, string(out), "deployment.apps/w0 in "+namespaces[0]+": its sidecars\n", "whoever is on record for them")
	out = runs(t, "eject", "--kubeconfig", plane.Kubeconfig(), "-A", "--yes", "--max-concurrent", "3")

	require.Equal(t, "removed from the cluster: the sidecars of 12 workloads, 4 VectorSidecars, 4 ConfigMaps\n", string(out))
	for _, deployment := range deployments {
		w.Get(t, deployment)
		require.Equal(t, pristine[deployment.Namespace+deployment.Name], bare(deployment))
		for _, entry := range deployment.ManagedFields {
			require.False(t, meta.IsManager(entry.Manager), entry.Manager)
		}
	}
	var sidecars v1alpha1.VectorSidecarList
	require.NoError(t, w.Client.List(t.Context(), &sidecars))
	require.Empty(t, sidecars.Items)
	var companions corev1.ConfigMapList
	require.NoError(t, w.Client.List(t.Context(), &companions, client.HasLabels{meta.LabelSidecar}))
	require.Empty(t, companions.Items)
}
