// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/test/controlplane"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// A user deletes a namespace while the operator changes its workloads. The API server rejects further creates there,
// which is no error in the log.
func TestOperator_LogsNoErrorForTerminatingNamespace(t *testing.T) {
	const workloads = 30
	plane := controlplane.ForTest(t, controlplane.Options{Controllers: true})
	world, err := harness.NewWorld(plane.Config())
	require.NoError(t, err)
	for name, isUnderWay := range map[string]bool{"when all is injected": false, "in a fan-out": true} {
		t.Run(name, func(t *testing.T) {
			namespace := world.Namespace(t)
			p := harness.StartProcess(t, program, plane.Kubeconfig(), harness.Settings{Arguments: []string{"--namespace=default", "--log-level=DEBUG"}})
			var all []*appsv1.Deployment
			for i := range workloads {
				d := objects.NewDeployment(fmt.Sprintf("app-%d", i), namespace).Labeled("logs", "vector").WithEmptyDir("logs", "/var/log/app").WithReplicas(0).Build()
				world.Create(t, d)
				all = append(all, d)
			}
			budget := "100%"
			if isUnderWay {
				budget = "2"
			}
			world.Create(t,
				objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithLogs("/var/log/app").WithMaxConcurrent(budget).Build(),
				objects.NewVectorSidecar("broken", namespace).Named("other").Selecting("logs", "vector").WithConfigMap("nowhere", "").Build())
			if isUnderWay {
				harness.Eventually(t, "the injection of some workloads", func() bool { return len(p.Said(t, "wrote workload")) >= 3 })
			} else {
				for _, d := range all {
					harness.Until(t, world, d, "the sidecar", isInjected)
				}
			}

			world.Delete(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})

			harness.Eventually(t, "the deletion of the namespace", func() bool {
				return apierrors.IsNotFound(world.Client.Get(t.Context(), client.ObjectKey{Name: namespace}, &corev1.Namespace{}))
			})
			noErrors(t, p)
			t.Logf("%d events were rejected", len(p.Said(t, "Server rejected event (will not retry!)")))
			require.Less(t, len(p.Said(t, "Server rejected event (will not retry!)")), workloads/2, "no more than those that were sent before the cache showed it")
		})
	}
}
