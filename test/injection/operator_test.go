// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package injection

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/controlplane"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// While the operator is stopped, the API server injects by the existing OverlaySets. The next operator adopts these
// sidecars without another rollout. The test is not parallel, because it restarts the operator.
func TestOverlaySet_InjectsWithoutRunningOperator(t *testing.T) {
	told, untold := world.Namespace(t), world.Namespace(t)
	vs := objects.NewVectorSidecar("logs", told).Selecting("logs", "vector").Build()
	world.Create(t, vs)
	set := awaitOverlay(t, vs)
	deployment := objects.NewDeployment("cart", told).Labeled("logs", "vector").Build()
	untilActive(t, deployment, "vector")
	require.NoError(t, running.Stop())

	world.Create(t, deployment)
	require.True(t, has(deployment, "vector"), "the OverlaySet was written before")
	// The operator stopped before it wrote the OverlaySet of this namespace.
	late, plain := objects.NewVectorSidecar("logs", untold).Selecting("logs", "vector").Build(), objects.NewDeployment("cart", untold).Labeled("logs", "vector").Build()
	world.Create(t, late, plain)
	require.False(t, has(plain, "vector"))

	running = world.RunOperator(options)
	harness.Until(t, world, deployment, "the adoption by the operator", func(d *appsv1.Deployment) bool { return isAdopted("logs")(d) })
	require.EqualValues(t, 1, deployment.Generation)
	require.Equal(t, 1, revisions(t, told))
	harness.Until(t, world, plain, "the injection", func(d *appsv1.Deployment) bool { return has(d, "vector") })
	awaitOverlay(t, late)
	again := awaitOverlay(t, vs)
	require.Equal(t, set.ResourceVersion, again.ResourceVersion, "a new operator writes nothing that is as it should be")
	harness.Eventually(t, "an idle operator without requests", func() bool {
		return !slices.ContainsFunc(requestsOf(running), func(r harness.Request) bool { return time.Since(r.At) < atRest })
	})
}

// atRest is the time without requests after which an operator counts as idle.
const atRest = 3 * time.Second

// plugin runs kubectl vectorsidecar and returns its output.
func plugin(t *testing.T, args ...string) string {
	t.Helper()
	path, err := controlplane.Bin("kubectl-vectorsidecar")
	require.NoError(t, err)
	out, _ := exec.CommandContext(t.Context(), path, append(args, "--kubeconfig", kubeconfig)...).CombinedOutput()
	return string(out)
}

// The commands explain and check report admission injection. The command eject removes the injected sidecar and
// variables for good.
func TestOverlaySet_SupportsPluginCommands(t *testing.T) {
	t.Parallel()
	namespace, deployment, _ := settled(t, byApply)
	explained := plugin(t, "explain", "deployment/cart", "-n", namespace)
	require.Regexp(t, `injected by +the API server, when the workload was written`, explained)
	require.Regexp(t, `new workloads +by the API server, if its admission policy can evaluate the workload \(1 overlay\)`, explained)
	require.Contains(t, plugin(t, "check"), "admission injection: ")
	namespaceTold, cartTold, _ := informed(t, byApply)
	values := filepath.Join(t.TempDir(), "values.yaml")
	require.NoError(t, os.WriteFile(values, []byte("policy: {"+mayBeTold+"}\n"), 0o600))
	require.Regexp(t, `application env +app: OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL, OTEL_RESOURCE_ATTRIBUTES, LOG_ADDRESS\n`,
		plugin(t, "explain", "deployment/cart", "-n", namespaceTold, "--values", values))
	harness.Eventually(t, "the removal that was requested", func() bool { // The operator may write to it in between.
		plugin(t, "eject", "-n", namespaceTold, "--yes")
		world.Get(t, cartTold)
		return slices.Equal([]string{"FIRST=one"}, injectedVariables(cartTold, "app")) && len(cartTold.Spec.Template.Annotations) == 0
	})
	t.Log(plugin(t, "eject", "-n", namespace, "--yes"))
	world.Get(t, deployment)
	require.Equal(t, []string{"app"}, names(deployment))
	require.Empty(t, deployment.Spec.Template.Annotations)
	key := client.ObjectKey{Namespace: namespace, Name: meta.OverlaySet}
	harness.Eventually(t, "no OverlaySet", func() bool { return apierrors.IsNotFound(world.Client.Get(t.Context(), key, &v1alpha1.OverlaySet{})) })
	byApply(t, namespace, manifest("app:2", ""))
	world.Get(t, deployment)
	require.Equal(t, []string{"app"}, names(deployment))
}
