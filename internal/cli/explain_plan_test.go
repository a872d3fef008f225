// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// For each workload, explain and plan predict the same action, the same batch, and the same number of pods that
// restart.
func TestExplainWorkload_PredictsSameActionAsPlan(t *testing.T) {
	values := filepath.Join(t.TempDir(), "values.yaml")
	require.NoError(t, os.WriteFile(values, []byte("environment: development\nrollout: {maxConcurrent: 1}\n"), 0o600))
	leaving := operated(t, "staging")
	cart, isDeployment := leaving.objects[4].(*appsv1.Deployment)
	require.True(t, isDeployment)
	cart.Labels, cart.Spec.Paused = nil, true
	for name, test := range map[string]struct {
		objects   []client.Object
		arguments []string
		batches   []int
		restarts  []int
	}{
		"the slots of the installation": {
			objects: []client.Object{
				objects.NewDeployment("cart", "shop").Labeled("logs", "vector").Build(),
				objects.NewDeployment("till", "shop").Labeled("audit", "vector").Build(),
				objects.NewVectorSidecar("logs", "shop").Selecting("logs", "vector").Build(),
				objects.NewVectorSidecar("audit", "shop").Selecting("audit", "vector").Build(),
			},
			arguments: []string{"--values", values}, batches: []int{1, 2}, restarts: []int{1, 1},
		},
		"a paused workload that is no longer selected": {objects: leaving.objects, batches: []int{1}, restarts: []int{0}},
	} {
		t.Run(name, func(t *testing.T) {
			c := &cluster{objects: test.objects}
			out, notes, code := c.run(t, append([]string{"plan", "-o", "json"}, test.arguments...)...)
			require.Zero(t, code, notes)
			var planned planReport
			require.NoError(t, json.Unmarshal([]byte(out), &planned))
			var batches, restarts []int
			for _, step := range planned.Steps {
				batches, restarts = append(batches, step.Batch), append(restarts, step.Restarts)

				out, notes, code := c.run(t, append([]string{"explain", "deployment/" + step.Workload, "-o", "json"}, test.arguments...)...)
				require.Zero(t, code, notes)
				var explained explanation
				require.NoError(t, json.Unmarshal([]byte(out), &explained))
				for i := range explained.VectorSidecars {
					if report := &explained.VectorSidecars[i]; report.Name == step.VectorSidecar {
						require.Equal(t, step.Batch, report.Batch, "the batch of %s", step.Workload)
						require.Equal(t, step.Restarts, report.Restarts, "the restarts of %s", step.Workload)
						require.Equal(t, step.State+" "+step.Reason, report.State+" "+report.Reason, "the state of %s", step.Workload)
					}
				}
			}
			require.ElementsMatch(t, test.batches, batches)
			require.ElementsMatch(t, test.restarts, restarts)
		})
	}
}

// A DaemonSet that no VectorSidecar selects uses a port of the nodes. The plan shows that the operator does not inject
// a sidecar with that port.
func TestPlanReport_AvoidsNodePortsOfOtherWorkloads(t *testing.T) {
	onNodes := func(name, label string, port corev1.ContainerPort) client.Object {
		daemonSet := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "shop", Labels: map[string]string{label: "vector"}}}
		daemonSet.Spec.Template.Spec = corev1.PodSpec{HostNetwork: true, Containers: []corev1.Container{{Name: "app", Image: "app", Ports: []corev1.ContainerPort{port}}}}
		return daemonSet
	}
	sidecar := objects.NewVectorSidecar("logs", "shop").Selecting("logs", "vector").Build()
	sidecar.Spec.HostNetwork, sidecar.Spec.Workloads = v1alpha1.HostNetworkInject, []v1alpha1.WorkloadKind{"DaemonSet"}
	c := &cluster{objects: []client.Object{
		sidecar, onNodes("agent", "logs", corev1.ContainerPort{ContainerPort: 80}), onNodes("other", "audit", corev1.ContainerPort{ContainerPort: 9598}),
	}}

	out, notes, code := c.run(t, "plan", "-o", "wide")

	require.Zero(t, code, notes)
	require.Contains(t, out, "port 9598 of the node is used by container \"app\" of DaemonSet shop/other")
}
