// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// A pod annotation explains the sidecar to application teams. Another aboutURL restarts no pods. The workload gets it
// with the next change of its sidecar.
func TestAboutText_ChangesOnlyWithSidecar(t *testing.T) {
	installation := pacing(t, "")
	deployment, vs := injected(t)
	about := func(d *appsv1.Deployment) string {
		return d.Spec.Template.Annotations[meta.AnnotationAbout(meta.Manager("logs"))]
	}
	for _, part := range []string{"Vector Sidecar Operator", "VectorSidecar logs", "kubectl vectorsidecar explain", meta.AnnotationInject} {
		require.Contains(t, about(deployment), part)
	}
	require.NotContains(t, about(deployment), "Platform team")
	generation := deployment.Generation

	const url = "https://wiki.example.com/vector"
	harness.Change(t, world, installation, func(c *corev1.ConfigMap) {
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, meta.AnnotationAboutURL, url)
	})
	hasURL := func(d *appsv1.Deployment) bool { return strings.HasSuffix(about(d), "Platform team: "+url) }
	harness.Eventually(t, "new workloads to get the URL", func() bool {
		fresh := objects.NewDeployment("", vs.Namespace).Labeled("logs", "vector").Build()
		fresh.GenerateName = "fresh-"
		world.Create(t, fresh)
		harness.Until(t, world, fresh, "the sidecar", isInjected)
		return hasURL(fresh)
	})
	world.Get(t, deployment)
	require.Equal(t, generation, deployment.Generation)
	require.NotContains(t, about(deployment), url)

	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: "trace"} })
	harness.Until(t, world, deployment, "the changed sidecar with the URL", func(d *appsv1.Deployment) bool { return logLevel(d) == "trace" && hasURL(d) })

	require.NoError(t, world.Client.Delete(t.Context(), vs))
	harness.Until(t, world, deployment, "removal", isClean)
	require.Empty(t, deployment.Spec.Template.Annotations)
}
