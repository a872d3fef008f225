// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

const list = `{"manager":"vectorsidecar/logs","containers":["vector","gone"],"volumes":["vectorsidecar-vector-data"]}`

// undone is a workload whose pod template came back from a revision: the sidecar is
// there, and a manager wrote it that is none of ours.
func undone(t *testing.T, by string, annotations map[string]string) *appsv1.Deployment {
	t.Helper()
	c := newCluster(t)
	c.apply(meta.Manager("logs"), sidecar)
	deployment := c.live()
	deployment.Annotations = nil
	deployment.Spec.Template.Annotations = annotations
	deployment.ManagedFields = []metav1.ManagedFieldsEntry{{
		Manager: by, Operation: metav1.ManagedFieldsOperationUpdate, FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:template":{"f:spec":{
			"f:initContainers":{"k:{\"name\":\"vector\"}":{".":{},"f:image":{},"f:name":{}}},
			"f:volumes":{"k:{\"name\":\"vectorsidecar-vector-data\"}":{".":{},"f:name":{}}}}}}}`),
	}}
	return deployment
}

func TestWhatAnUndoBringsBackIsKnown(t *testing.T) {
	key := meta.AnnotationParts(meta.Manager("logs"))
	deployment := undone(t, "kubectl", map[string]string{key: list})

	view := Of(deployment)

	owned := view.Owned[meta.Manager("logs")]
	require.Equal(t, []string{"vector", "vectorsidecar-vector-data"}, owned.Remains, "and nothing that is not there")
	require.Equal(t, []string{"vector"}, owned.Containers)
	require.Equal(t, []string{"vectorsidecar-vector-data"}, owned.Volumes)
	require.Empty(t, owned.Hash, "nothing is owned")
	require.Equal(t, []string{meta.Manager("logs")}, Managers(deployment))
	require.Equal(t, view, NewReducer().Reduce(deployment).View(), "the cache knows as much")
}

func TestWhatADeployersManifestHoldsIsNoRemains(t *testing.T) {
	key := meta.AnnotationParts(meta.Manager("logs"))
	deployment := undone(t, "helm", map[string]string{key: list})

	require.Empty(t, Of(deployment).Owned)
	require.Equal(t, Of(deployment), NewReducer().Reduce(deployment).View())
}

func TestAListUnderAnotherKeyIsNobodys(t *testing.T) {
	for name, annotations := range map[string]map[string]string{
		"another VectorSidecar's key": {meta.AnnotationParts(meta.Manager("audit")): list},
		"no list":                     {meta.AnnotationParts(meta.Manager("logs")): "vector"},
		"no manager of ours":          {meta.Group + "/parts.x": `{"manager":"helm","containers":["vector"]}`},
		"none":                        nil,
	} {
		require.Empty(t, Of(undone(t, "kubectl", annotations)).Owned, name)
	}
}

// A deployer that sets the image of our container has made it its own.
func TestAContainerIsTakenByWhoDeploysItsImage(t *testing.T) {
	for by, taken := range map[string][]string{"helm": {"vector"}, "kubectl-client-side-apply": {"vector"}, "kubectl-set": nil, "kubectl-edit": nil} {
		c := newCluster(t)
		c.apply(meta.Manager("logs"), sidecar)
		deployment := c.live()
		object := deployment.DeepCopy()
		object.Spec.Template.Spec.InitContainers[1].Image = "own:1"
		require.NoError(t, c.manager.Update(c.typed(object), by))

		view := Of(c.live())

		require.Equal(t, taken, view.Owned[meta.Manager("logs")].Taken, by)
		require.Equal(t, view, NewReducer().Reduce(c.live()).View(), by)
	}
}

func TestMountsOfOurVolumesInTheApplicationAreTold(t *testing.T) {
	c := newCluster(t)
	c.apply(meta.Manager("logs"), sidecar)
	bare := Of(c.live())
	deployment := c.live()
	mount := corev1.VolumeMount{Name: "vectorsidecar-vector-data", MountPath: "/data"}
	app := &deployment.Spec.Template.Spec.Containers[0]
	app.VolumeMounts = append(app.VolumeMounts, mount)

	view := Of(deployment)

	require.Equal(t, []Mount{{Container: "cart", VolumeMount: mount}}, view.MountsOf(meta.Manager("logs")))
	require.Empty(t, view.MountsOf(meta.Manager("audit")))
	require.Equal(t, bare.Values(), view.Values(), "templates see the application without it")
}
