// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/fieldmanager"
)

// kubectl rollout undo restored the sidecar without its managedFields. Its items are found by the annotation that lists
// them.
func TestAddLeftovers_FindsItemsAfterUndo(t *testing.T) {
	key := meta.AnnotationInjectedItems(meta.Manager("logs"))
	deployment := fieldmanager.Undone(t, "kubectl", map[string]string{key: fieldmanager.List})

	view := NewView(deployment)

	owned := view.Owned[meta.Manager("logs")]
	require.Equal(t, []string{"vector", "vectorsidecar-vector-data"}, owned.Leftovers, "and nothing that is not there")
	require.Equal(t, []string{"vector"}, owned.Containers)
	require.Equal(t, []string{"vectorsidecar-vector-data"}, owned.Volumes)
	require.Empty(t, owned.Hash, "nothing is owned")
	require.Equal(t, []string{meta.Manager("logs")}, Managers(deployment))
}

// The annotation lists an item that a deployment tool owns. It is not a leftover.
func TestAddLeftovers_SkipsItemsOfDeploymentTool(t *testing.T) {
	key := meta.AnnotationInjectedItems(meta.Manager("logs"))
	deployment := fieldmanager.Undone(t, "helm", map[string]string{key: fieldmanager.List})

	require.Empty(t, NewView(deployment).Owned)
}

// A rollback restored the sidecar without its managedFields. Its pod labels and annotations are found, so that they are
// removed with it.
func TestAddLeftovers_FindsPodMetadataAfterUndo(t *testing.T) {
	parts := meta.InjectedItems{
		Manager: meta.Manager("logs"), Containers: []string{"vector"},
		Annotations: []string{"vector.dev/exclude-containers", "example.com/gone", "example.com/deployed"}, Labels: []string{"example.com/tier"},
	}
	key := meta.AnnotationInjectedItems(parts.Manager)
	deployment := fieldmanager.Undone(t, "kubectl", map[string]string{
		key: parts.String(), "vector.dev/exclude-containers": "vector", "example.com/deployed": "1", "example.com/owner": "cart",
	})
	deployment.Spec.Template.Labels["example.com/tier"] = "logs"
	deployment.ManagedFields = append(deployment.ManagedFields, metav1.ManagedFieldsEntry{
		Manager: "helm", Operation: metav1.ManagedFieldsOperationUpdate,
		FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:template":{"f:metadata":{"f:annotations":{"f:example.com/deployed":{}}}}}}`),
	})

	owned := NewView(deployment).Owned[parts.Manager]

	require.Equal(t, []string{"vector"}, owned.Containers)
	require.Equal(t, []string{"vector.dev/exclude-containers", key}, owned.PodAnnotations, "what a deployer sets too stays his")
	require.Equal(t, []string{"example.com/tier"}, owned.PodLabels)
}

// Each case is an annotation that is not a valid list of items of this VectorSidecar. It is ignored.
func TestReadInjectedItems_IgnoresOtherAnnotations(t *testing.T) {
	for name, annotations := range map[string]map[string]string{
		"another VectorSidecar's key": {meta.AnnotationInjectedItems(meta.Manager("audit")): fieldmanager.List},
		"no list":                     {meta.AnnotationInjectedItems(meta.Manager("logs")): "vector"},
		"no manager of ours":          {meta.Group + "/injected-items.x": `{"manager":"helm","containers":["vector"]}`},
		"none":                        nil,
	} {
		require.Empty(t, NewView(fieldmanager.Undone(t, "kubectl", annotations)).Owned, name)
	}
}

// A deployment tool sets the image of the sidecar's container. The container then belongs to that tool.
func TestOwnedFields_ListContainersOfDeploymentTool(t *testing.T) {
	for by, taken := range map[string][]string{"helm": {"vector"}, "kubectl-client-side-apply": {"vector"}, "kubectl-set": nil, "kubectl-edit": nil} {
		c := fieldmanager.New(t)
		c.Apply(meta.Manager("logs"), fieldmanager.Sidecar)
		deployment := c.Live()
		object := deployment.DeepCopy()
		object.Spec.Template.Spec.InitContainers[1].Image = "own:1"
		c.Update(object, by)

		view := NewView(c.Live())

		require.Equal(t, taken, view.Owned[meta.Manager("logs")].DeployerContainers, by)
	}
}

func TestOwnedMounts_FindsMountsInApplication(t *testing.T) {
	c := fieldmanager.New(t)
	c.Apply(meta.Manager("logs"), fieldmanager.Sidecar)
	bare := NewView(c.Live())
	deployment := c.Live()
	mount := corev1.VolumeMount{Name: "vectorsidecar-vector-data", MountPath: "/data"}
	app := &deployment.Spec.Template.Spec.Containers[0]
	app.VolumeMounts = append(app.VolumeMounts, mount)

	view := NewView(deployment)

	require.Equal(t, []Mount{{Container: "cart", VolumeMount: mount}}, view.OwnedMounts(meta.Manager("logs")))
	require.Empty(t, view.OwnedMounts(meta.Manager("audit")))
	require.Equal(t, bare.Values(), view.Values(), "templates see the application without it")
}
