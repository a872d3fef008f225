// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// The operator shortens preStop sleep to the pod's grace period, because the API server rejects a longer one.
func TestVectorSidecar_ShortensSleepToGracePeriod(t *testing.T) {
	t.Parallel()
	for _, grace := range []int64{0, 1, 4} {
		t.Run(fmt.Sprint(grace), func(t *testing.T) {
			t.Parallel()
			namespace := world.Namespace(t)
			deployment := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").
				Pod(func(pod *corev1.PodSpec) { pod.TerminationGracePeriodSeconds = &grace }).Build()
			vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").Build()
			world.Create(t, deployment, vs)

			harness.Until(t, world, vs, "readiness", isUpToDate)

			world.Get(t, deployment)
			lifecycle := deployment.Spec.Template.Spec.InitContainers[0].Lifecycle
			if grace == 0 {
				require.Nil(t, lifecycle)
			} else {
				require.Equal(t, grace, lifecycle.PreStop.Sleep.Seconds)
			}
			require.Contains(t, message(vs, meta.ConditionReady), fmt.Sprintf("terminationGracePeriodSeconds of the pods is %d", grace))
		})
	}
}
