// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// allowance is the comment of a sample that names the policy setting it needs.
var allowance = regexp.MustCompile("# vectorsidecar: ignore PolicyViolation because the policy has to name it in (\\S+)\n")

// The samples with credentials roll out with the default policy. A sample that needs another policy names the setting in a
// comment. The pods meet the Pod Security level restricted, and only the sidecar mounts the service account token.
func TestVectorSidecar_RollsOutCredentialSamples(t *testing.T) {
	root, err := harness.Root()
	require.NoError(t, err)
	files, err := filepath.Glob(filepath.Join(root, "docs", "samples", "credentials", "*.yaml"))
	require.NoError(t, err)
	require.Len(t, files, 7)
	application, err := os.ReadFile(filepath.Join(root, "docs", "samples", "app", "deployment.yaml"))
	require.NoError(t, err)
	var waiting []*v1alpha1.VectorSidecar
	var deployments []*appsv1.Deployment
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		namespace := world.Namespace(t, "pod-security.kubernetes.io/enforce", "restricted")
		vs := &v1alpha1.VectorSidecar{}
		vs.Namespace = namespace
		for _, object := range append(documents(t, namespace, string(application)), documents(t, namespace, string(text))...) {
			if object.GetKind() == "VectorSidecar" {
				labelForSample(t, namespace, object)
				require.NoError(t, unstructured.SetNestedField(object.Object, "0s", "spec", "rollout", "soak"), "or each takes half a minute")
				vs.Name = object.GetName()
			}
			require.NoError(t, world.Client.Create(t.Context(), object))
		}
		var found appsv1.DeploymentList
		require.NoError(t, world.Client.List(t.Context(), &found, client.InNamespace(namespace)))
		require.Len(t, found.Items, 1)
		deployments = append(deployments, &found.Items[0])
		if named := allowance.FindStringSubmatch(string(text)); named != nil {
			harness.Until(t, world, vs, "the rejection of "+filepath.Base(file), func(vs *v1alpha1.VectorSidecar) bool {
				said := message(vs, meta.ConditionReady)
				return strings.HasPrefix(said, meta.ReasonPolicyViolation) && strings.Contains(said, "(policy."+named[1]+")")
			})
			waiting = append(waiting, vs)
			continue
		}
		harness.Until(t, world, vs, "readiness with the default policy of "+filepath.Base(file), isUpToDate)
	}
	require.Len(t, waiting, 3)

	world.SetValues(t, objects.NewConfigMap(options.EnvironmentsConfigMap, options.Namespace, desired.PolicyKey,
		"volumes: {csiDrivers: [secrets-store.csi.k8s.io], tokenAudiences: [sts.amazonaws.com, 'api://AzureADTokenExchange']}"))

	for _, vs := range waiting {
		harness.Until(t, world, vs, "readiness of "+vs.Name+" with a policy that names it", isUpToDate)
	}
	for _, deployment := range deployments {
		harness.Until(t, world, deployment, "its pods", isRolledOut)
		require.Empty(t, deployment.Spec.Template.Spec.ServiceAccountName, "it is the owner's")
		for _, container := range deployment.Spec.Template.Spec.Containers {
			for _, mount := range container.VolumeMounts {
				require.NotContains(t, mount.Name, "vectorsidecar-", "container %s", container.Name)
			}
		}
	}
}
