// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/cli"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/operator"
	"kontroloop.ai/vector-sidecar-operator/internal/policy"
	"kontroloop.ai/vector-sidecar-operator/test/controlplane"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// constraints returns the CRD by which the operator detects OpenShift.
func constraints() *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "securitycontextconstraints.security.openshift.io"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "security.openshift.io", Scope: apiextensionsv1.ClusterScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: "SecurityContextConstraints", ListKind: "SecurityContextConstraintsList", Plural: "securitycontextconstraints", Singular: "securitycontextconstraints"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"}},
			}},
		},
	}
}

// On OpenShift, sidecars set no user. If the spec sets one outside of the namespace's range, it is reported and not
// written. The test has its own API server, because the platform is detected once.
func TestOpenShift_AssignsUserOfSidecar(t *testing.T) {
	plane, err := controlplane.Start(t.Context(), controlplane.Options{Dir: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, plane.Stop()) })
	openshift, err := harness.NewWorld(plane.Config())
	require.NoError(t, err)
	definition := constraints()
	openshift.Create(t, definition)
	harness.Until(t, openshift, definition, "its kind", func(d *apiextensionsv1.CustomResourceDefinition) bool {
		for _, condition := range d.Status.Conditions {
			if condition.Type == apiextensionsv1.Established && condition.Status == apiextensionsv1.ConditionTrue {
				return true
			}
		}
		return false
	})
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}
	openshift.Create(t, namespace)
	openshift.StartOperator(t, operator.Options{Namespace: "vector-system", WorkloadKinds: objects.WorkloadKinds})

	assigned, fixed := objects.NewDeployment("assigned", "shop").Labeled("user", "assigned").Build(), objects.NewDeployment("fixed", "shop").Labeled("user", "fixed").Build()
	outside := objects.NewVectorSidecar("fixed", "shop").Selecting("user", "fixed").Sidecar(func(s *v1alpha1.SidecarSpec) { s.User = "Fixed" }).Build()
	outside.Spec.Enabled = new(bool)
	openshift.Create(t, assigned, fixed, outside, objects.NewVectorSidecar("logs", "shop").Selecting("user", "assigned").Build())
	harness.Until(t, openshift, assigned, "its sidecar", func(d *appsv1.Deployment) bool { return len(d.Spec.Template.Spec.InitContainers) == 1 })
	context := assigned.Spec.Template.Spec.InitContainers[0].SecurityContext
	require.Nil(t, context.RunAsUser)
	require.Nil(t, context.RunAsGroup)
	require.True(t, *context.RunAsNonRoot)

	openshift.Get(t, namespace)
	namespace.Annotations = map[string]string{policy.UserRangeAnnotation: "1000650000/10000"}
	require.NoError(t, openshift.Client.Update(t.Context(), namespace))
	openshift.Get(t, outside)
	outside.Spec.Enabled = nil
	require.NoError(t, openshift.Client.Update(t.Context(), outside))
	harness.Until(t, openshift, outside, "the reason", func(vs *v1alpha1.VectorSidecar) bool {
		ready := apimeta.FindStatusCondition(vs.Status.Conditions, meta.ConditionReady)
		return ready != nil && ready.Reason == meta.ReasonUserOutOfRange
	})
	openshift.Get(t, fixed)
	require.Empty(t, fixed.Spec.Template.Spec.InitContainers)

	var out, notes bytes.Buffer
	streams := genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &out, ErrOut: &notes}
	cli.Run(t.Context(), []string{"check", "--kubeconfig", plane.Kubeconfig()}, streams, cli.Builtin{Chart: vectorsidecar.FS, Definition: vectorsidecar.Definition}, "test")
	require.Contains(t, out.String(), "OpenShift")
	require.Contains(t, out.String(), "IPv4")
	out.Reset()
	code := cli.Run(t.Context(), []string{"render", "fixed", "--kubeconfig", plane.Kubeconfig(), "-n", "shop"}, streams, cli.Builtin{Chart: vectorsidecar.FS, Definition: vectorsidecar.Definition}, "test")
	require.NotZero(t, code, "the preview knows the range, too")
	require.Contains(t, notes.String(), meta.ReasonUserOutOfRange)
}
