// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"encoding/json"
	"maps"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	example "kontroloop.ai/vector-sidecar-operator/test/objects"
)

// marksOf returns the annotations of the operator.
func marksOf(annotations map[string]string) map[string]string {
	marks := maps.Clone(annotations)
	maps.DeleteFunc(marks, func(key, _ string) bool { return !meta.IsMark(key) })
	return marks
}

// copyMarks applies the marks of a Deployment to another one, or to itself, with the field manager of a deployer, as an
// exported manifest that is applied again.
func copyMarks(t *testing.T, from, to *appsv1.Deployment) {
	t.Helper()
	annotations, ofPods := marksOf(from.Annotations), marksOf(from.Spec.Template.Annotations)
	require.NotEmpty(t, annotations)
	require.NotEmpty(t, ofPods)
	text, err := json.Marshal(map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": to.Name, "namespace": to.Namespace, "annotations": annotations},
		"spec": map[string]any{"template": map[string]any{"metadata": map[string]any{"annotations": ofPods}}},
	})
	require.NoError(t, err)
	require.NoError(t, cluster.Patch(t.Context(), to, client.RawPatch(types.ApplyPatchType, text), client.FieldOwner("deployer"), client.ForceOwnership))
}

// withoutStatus returns a Deployment as it was written, without what its controller writes.
func withoutStatus(t *testing.T, deployment *appsv1.Deployment) *appsv1.Deployment {
	t.Helper()
	world.Get(t, deployment)
	written := deployment.DeepCopy()
	written.Status, written.ResourceVersion, written.ManagedFields = appsv1.DeploymentStatus{}, "", nil
	delete(written.Annotations, "deployment.kubernetes.io/revision")
	for _, entry := range deployment.ManagedFields {
		if entry.Subresource == "" && entry.Manager != "kube-controller-manager" {
			written.ManagedFields = append(written.ManagedFields, entry)
		}
	}
	return written
}

// An upgrade writes no workload and no annotation of one, also if a workload has no pods, or annotations that another
// field manager copied. The copies are removed with the sidecar.
func TestChart_UpgradesWithoutWorkloadWrites(t *testing.T) {
	logs := example.NewVectorSidecar("logs", "shop").Selecting("logs", "vector").WithMaxConcurrent("100%").Build()
	u := fromBefore(t, map[string]kind{"default": {of: []*v1alpha1.VectorSidecar{logs}}})
	newWorkload := func(name, label string, replicas int32) *appsv1.Deployment {
		d := example.NewDeployment(name, "shop").WithReplicas(replicas).WithInitContainer("migrate").Labeled("logs", label).Build()
		world.Create(t, d)
		return d
	}
	empty, copied, exported, bare := newWorkload("empty", "vector", 0), newWorkload("copied", "vector", 0), newWorkload("exported", "vector", 1), newWorkload("bare", "none", 1)
	injected := []*appsv1.Deployment{empty, copied, exported}
	for _, d := range injected {
		harness.Until(t, world, d, "its sidecar", func(d *appsv1.Deployment) bool { return len(d.Spec.Template.Spec.InitContainers) == 2 })
	}
	for _, d := range injected[1:] {
		copyMarks(t, d, d)
	}
	copyMarks(t, exported, bare)
	for _, d := range append(injected, bare) {
		harness.Until(t, world, d, "its controller", func(d *appsv1.Deployment) bool { return d.Status.ObservedGeneration == d.Generation })
	}
	harness.Until(t, world, logs, "the status", func(vs *v1alpha1.VectorSidecar) bool {
		return vs.Status.MatchedDeployments == 3 && vs.Status.InjectedDeployments == 3
	})
	var before []*appsv1.Deployment
	for _, d := range append(injected, bare) {
		before = append(before, withoutStatus(t, d))
	}

	u.pods.Runs("operator")
	helm(t, "upgrade", release, chartDir, "-n", namespace, "-f", root+"/values/development.yaml")
	u.restarted(t)
	harness.Until(t, world, logs, "workloads without pods", func(vs *v1alpha1.VectorSidecar) bool { return vs.Status.WorkloadsWithoutPods == 2 })
	harness.Change(t, world, logs, func(vs *v1alpha1.VectorSidecar) {
		metav1.SetMetaDataAnnotation(&vs.ObjectMeta, meta.AnnotationReconcileAt, "after the upgrade")
	})
	harness.Until(t, world, logs, "another reconcile", func(vs *v1alpha1.VectorSidecar) bool { return vs.Status.LastHandledReconcileAt == "after the upgrade" })
	for i, d := range append(injected, bare) {
		require.Equal(t, before[i], withoutStatus(t, d), d.Name)
	}

	for _, d := range injected {
		harness.Change(t, world, d, func(d *appsv1.Deployment) { d.Labels = nil })
		requireClean(t, d)
	}
	require.NoError(t, cluster.Delete(t.Context(), logs))
	harness.Until(t, world, bare, "no marks", func(d *appsv1.Deployment) bool {
		return len(marksOf(d.Annotations))+len(marksOf(d.Spec.Template.Annotations)) == 0
	})
}
