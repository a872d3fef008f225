// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package injection

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	smd "sigs.k8s.io/structured-merge-diff/v6/typed"
	"sigs.k8s.io/yaml"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// argo is the field manager of Argo CD.
const argo = "argocd-controller"

// serverSideDiff returns the two objects that Argo CD 3 compares with compare-options ServerSideDiff=true: the live
// object, and the answer to a dry run of server-side apply with Argo CD's field manager. Unless
// IncludeMutationWebhook=true is set, Argo CD uses only the fields of the answer that it owns.
func serverSideDiff(t *testing.T, namespace, manifest string, includesMutations bool) (is, wouldBe map[string]any) {
	t.Helper()
	wanted, live, predicted := &unstructured.Unstructured{}, &unstructured.Unstructured{}, &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal([]byte(manifest), &wanted.Object))
	wanted.SetNamespace(namespace)
	live.SetGroupVersionKind(wanted.GroupVersionKind())
	harness.Eventually(t, "the same version in both answers", func() bool {
		require.NoError(t, world.Client.Get(t.Context(), client.ObjectKeyFromObject(wanted), live))
		predicted = wanted.DeepCopy()
		require.NoError(t, world.Client.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(predicted), client.FieldOwner(argo), client.ForceOwnership, client.DryRunAll))
		return predicted.GetResourceVersion() == live.GetResourceVersion()
	})
	if !includesMutations {
		predicted.Object = ownedOver(t, live, predicted)
	}
	for _, one := range []*unstructured.Unstructured{live, predicted} {
		one.SetManagedFields(nil)
		one.SetResourceVersion("")
		unstructured.RemoveNestedField(one.Object, "status") // As its normalization does.
	}
	return live.Object, predicted.Object
}

// ownedOver returns the live object with the fields that Argo CD owns in the predicted object. Fields that the
// predicted object lacks are removed.
func ownedOver(t *testing.T, live, predicted *unstructured.Unstructured) map[string]any {
	t.Helper()
	owned := &fieldpath.Set{}
	for _, entry := range predicted.GetManagedFields() {
		if entry.Manager == argo {
			fields := &fieldpath.Set{}
			require.NoError(t, fields.FromJSON(entry.FieldsV1.GetRawReader()))
			owned = owned.Union(fields)
		}
	}
	require.False(t, owned.Empty())
	types := applyconfigurations.NewTypeConverter(clientgoscheme.Scheme)
	is, would := typedOf(t, types, live), typedOf(t, types, predicted)
	all, err := would.ToFieldSet()
	require.NoError(t, err)
	others := all.Difference(owned)
	difference, err := is.Compare(would)
	require.NoError(t, err)
	merged, err := is.Merge(would.RemoveItems(others))
	require.NoError(t, err)
	found, isMap := merged.RemoveItems(difference.Removed.Difference(others)).AsValue().Unstructured().(map[string]any)
	require.True(t, isMap)
	return found
}

func typedOf(t *testing.T, types managedfields.TypeConverter, of *unstructured.Unstructured) *smd.TypedValue {
	t.Helper()
	value, err := types.ObjectToTyped(of)
	require.NoError(t, err)
	return value
}

// inSync requires that Argo CD shows no difference, with and without mutations of webhooks.
func inSync(t *testing.T, namespace, manifest string) {
	t.Helper()
	for _, includesMutations := range []bool{false, true} {
		is, wouldBe := serverSideDiff(t, namespace, manifest, includesMutations)
		require.Equal(t, is, wouldBe, "IncludeMutationWebhook=%t", includesMutations)
	}
}

// Argo CD's server-side diff of a workload with an injected sidecar is empty, before and after the operator adopts
// the sidecar. A change of the manifest appears in the diff, and applying it increases the generation by one. The
// test is not parallel, because it restarts the operator.
func TestOverlaySet_KeepsServerSideDiffInSync(t *testing.T) {
	type application struct {
		name, namespace string
		sync            deployer
		vs              *v1alpha1.VectorSidecar
		manifest        func(image string) string
		has             []string
		env             int
	}
	var all []application
	for sync, deploy := range map[string]deployer{
		"client-side apply": byKubectl("apply", "--field-manager="+argo),
		"server-side apply": byKubectl("apply", "--server-side", "--force-conflicts", "--field-manager="+argo),
	} {
		plain, tells, migrates := world.Namespace(t), world.Namespace(t), world.Namespace(t)
		logs := func(namespace string) *v1alpha1.VectorSidecar {
			return objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").Build()
		}
		all = append(all,
			application{"a sidecar, " + sync, plain, deploy, logs(plain), func(image string) string { return manifest(image, "") }, []string{"vector", "app"}, 0},
			application{"told, " + sync, tells, deploy, newInjectingSidecar("logs", tells, "LOG_ADDRESS"), func(image string) string { return manifest(image, own) }, []string{"vector-otlp", "app"}, 5},
			application{"an init container, " + sync, migrates, deploy, logs(migrates), func(image string) string {
				return manifest(image, "") + "      initContainers: [{name: migrate, image: any}]\n"
			}, []string{"vector", "migrate", "app"}, 0},
		)
	}
	for _, one := range all {
		world.Create(t, one.vs)
		awaitOverlay(t, one.vs)
		untilActive(t, objects.NewDeployment("any", one.namespace).Labeled("logs", "vector").Build(), one.has[0])
	}
	require.NoError(t, running.Stop())
	for _, one := range all {
		one.sync(t, one.namespace, one.manifest("app:1"))
		deployment := cart(one.namespace)
		world.Get(t, deployment)
		require.Equal(t, one.has, names(deployment))
		require.False(t, isAdopted("logs")(deployment))
		inSync(t, one.namespace, one.manifest("app:1"))
	}
	running = world.RunOperator(options)
	for _, one := range all {
		deployment := cart(one.namespace)
		harness.Until(t, world, deployment, "the adoption by the operator", func(d *appsv1.Deployment) bool { return isAdopted("logs")(d) })
		inSync(t, one.namespace, one.manifest("app:1"))
		is, wouldBe := serverSideDiff(t, one.namespace, one.manifest("app:2"), false)
		require.NotEqual(t, is, wouldBe)
		image := func(of map[string]any) string {
			containers, _, err := unstructured.NestedSlice(of, "spec", "template", "spec", "containers")
			require.NoError(t, err)
			first, _ := containers[0].(map[string]any)
			return strings.TrimPrefix(first["image"].(string), "app:")
		}
		require.Equal(t, []string{"1", "2"}, []string{image(is), image(wouldBe)})

		generation := deployment.Generation
		one.sync(t, one.namespace, one.manifest("app:2"))
		inSync(t, one.namespace, one.manifest("app:2"))
		world.Get(t, deployment)
		require.Equal(t, generation+1, deployment.Generation)
		require.Equal(t, one.has, names(deployment))
		require.Len(t, injectedVariables(deployment, "app"), one.env)
	}
}
