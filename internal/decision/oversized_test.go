// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// The record of a workload with too many labels has no labels, so it is unknown whether the VectorSidecar selects the
// workload. A sidecar stays then, unless no workload should have it.
func TestDecide_KeepsSidecarOfWorkloadWithTooManyLabels(t *testing.T) {
	addLabels := func(deployment *appsv1.Deployment) {
		for n := range 4000 {
			deployment.Labels[fmt.Sprintf("n%d", n)] = "a value"
		}
	}
	deployment := cart()
	s := snapshot(t, logs().Build(), deployment)
	s = carryOut(t, s, decide(t, s), deployment)
	addLabels(deployment)
	s.Workloads = []*workloadcache.Record{workloadcache.NewRecord(deployment)}

	plans := decide(t, s).Plans
	require.Len(t, plans, 1)
	require.False(t, plans[0].Writes())
	require.Contains(t, plans[0].Message(), "metadata is too large: ")

	s.Sidecar = logs().Disabled().Build()
	require.Equal(t, plan.Remove, decide(t, s).Plans[0].Change)
	s.Sidecar = logs().Build()
	s.Sidecar.DeletionTimestamp = new(metav1.Now())
	require.Equal(t, plan.Remove, decide(t, s).Plans[0].Change)

	s.Sidecar = logs().Build()
	other := cart()
	addLabels(other)
	s.Workloads = []*workloadcache.Record{workloadcache.NewRecord(other)}
	require.Empty(t, decide(t, s).Plans, "a workload without the sidecar is not selected")
}
