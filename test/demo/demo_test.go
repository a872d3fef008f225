// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The demo counts reads and writes from the metrics of the operator. Renewals of the Lease are not counted.
func TestMetrics_CountWritesOfOperator(t *testing.T) {
	found := metrics(`# HELP rest_client_requests_total Number of HTTP requests
rest_client_requests_total{code="200",host="127.0.0.1:1",method="GET"} 8
rest_client_requests_total{code="200",host="127.0.0.1:1",method="PATCH"} 2
rest_client_requests_total{code="200",host="127.0.0.1:1",method="DELETE"} 1
rest_client_requests_total{code="200",host="127.0.0.1:1",method="PUT"} 5
leader_election_master_status{name="x"} 1
controller_runtime_reconcile_total{controller="vectorsidecar",result="success"} 1
workqueue_depth{controller="vectorsidecar",name="vectorsidecar",priority="0"} 0
`)
	require.Equal(t, 3, found.writes(), "renewing the lease is a PUT and no write to anybody's object")
	require.Equal(t, 8, found.reads())
	require.True(t, found.settled().done)
	require.False(t, metrics("").settled().done, "an operator that has not looked yet has written nothing, which proves nothing")
}

func TestOnlyNewPods_IsTrueIfAllPodsAreNewAndReady(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	pod := func(ready bool) corev1.Pod {
		return corev1.Pod{
			Spec: corev1.PodSpec{
				InitContainers: []corev1.Container{{Name: "migrate"}, {Name: "vector", RestartPolicy: &always}},
				Containers:     []corev1.Container{{Name: "app"}},
			},
			Status: corev1.PodStatus{
				InitContainerStatuses: []corev1.ContainerStatus{{Name: "migrate", Ready: true}, {Name: "vector", Ready: ready}},
				ContainerStatuses:     []corev1.ContainerStatus{{Name: "app", Ready: true}},
			},
		}
	}
	deployment := func(observed int64) *appsv1.Deployment {
		wanted := int32(1)
		return &appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Generation: 2},
			Spec:       appsv1.DeploymentSpec{Replicas: &wanted},
			Status:     appsv1.DeploymentStatus{ObservedGeneration: observed, Replicas: 1, UpdatedReplicas: 1, AvailableReplicas: 1},
		}
	}
	for name, test := range map[string]struct {
		deployment *appsv1.Deployment
		pods       []corev1.Pod
		done       bool
	}{
		"a native sidecar counts, a plain init container does not": {deployment(2), []corev1.Pod{pod(true)}, true},
		"the sidecar is not ready":                                 {deployment(2), []corev1.Pod{pod(false)}, false},
		"an old pod is still there":                                {deployment(2), []corev1.Pod{pod(true), pod(true)}, false},
		"the controller has not seen the new generation":           {deployment(1), []corev1.Pod{pod(true)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.done, rollout(test.deployment, test.pods, 2).done)
		})
	}
}

// The demo starts the operator with the arguments of the chart. Only addresses and paths are replaced.
func TestReplaceIn_ChangesOnlyAddresses(t *testing.T) {
	args := []string{"--environment=production", "--metrics-bind-address=:8443", "--health-probe-bind-address=:8081", "--config=/etc/config.yaml", "--leader-elect=true"}
	require.Equal(t,
		[]string{"--environment=production", "--metrics-bind-address=m", "--health-probe-bind-address=h", "--config=c", "--leader-elect=true"},
		addresses{metrics: "m", health: "h"}.replaceIn(args, "c"))
	require.Equal(t, "production", value(args, "--environment"))
}

func TestScreen_PrintsPlainLinesWithoutTerminal(t *testing.T) {
	var out bytes.Buffer
	d := &demo{screen: &screen{out: &out}}
	d.heading(1, "One")
	progress := d.working("waiting")
	progress.say("1 of 2")
	progress.say("1 of 2")
	progress.end()
	d.command("kubectl", "patch", "-p", `{"a":1}`)
	require.NoError(t, d.showDiff(json.RawMessage(`{"a":1,"b":1}`), json.RawMessage(`{"a":1,"b":2}`), 1))
	require.Equal(t, `
1. One
   ... waiting
   ... 1 of 2
   $ kubectl patch -p '{"a":1}'
     --- spec.template before
     +++ spec.template after
     @@ -1,2 +1,2 @@
      a: 1
     -b: 1
     +b: 2
`, out.String())
}
