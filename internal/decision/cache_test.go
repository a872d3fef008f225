// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// fleet returns n workloads, each with a log folder of its own.
func manyOf(n int) []*appsv1.Deployment {
	var all []*appsv1.Deployment
	for i := range n {
		all = append(all, objects.NewDeployment(fmt.Sprintf("app-%04d", i), "shop").Labeled("logs", "vector").WithEmptyDir("logs", "/var/log/app").Build())
	}
	return all
}

// Many workloads with equal input need one rendering, and the next reconcile needs none.
func TestDecide_RendersOncePerDistinctInput(t *testing.T) {
	const workloads = 50
	for name, test := range map[string]struct {
		sidecar *v1alpha1.VectorSidecar
		change  func([]*appsv1.Deployment)
		want    int
	}{
		"templates that do not look at the workload":     {sidecar: logs().Build(), want: 1},
		"templates that look at what all have in common": {sidecar: logs().WithLogs("/var/log/app").Build(), want: 1},
		"templates that look at what differs": {
			sidecar: logs().WithLogs("/var/log/app").Build(), want: 5,
			change: func(all []*appsv1.Deployment) {
				for i := range all {
					pod := &all[i].Spec.Template.Spec
					pod.Volumes[0].Name = fmt.Sprintf("logs-%d", i%5)
					pod.Containers[0].VolumeMounts[0].Name = pod.Volumes[0].Name
				}
			},
		},
		"pods that have less time to end than the sidecar drains": {
			sidecar: logs().Build(), want: 1,
			change: func(all []*appsv1.Deployment) {
				for i := range all {
					all[i].Spec.Template.Spec.TerminationGracePeriodSeconds = new(int64(i % 10))
				}
			},
		},
		"annotations that override values": {
			sidecar: logs().Build(), want: 3,
			change: func(all []*appsv1.Deployment) {
				for i, threads := range []string{"2", "3", "2", "2"} {
					all[i].Annotations = map[string]string{override("sidecar.threads"): threads}
				}
			},
		},
		"a rendering that fails before it looks": {sidecar: logs().Sidecar(func(s *v1alpha1.SidecarSpec) { s.Metrics = &v1alpha1.MetricsSpec{Enabled: new(bool)} }).Build(), want: 1},
	} {
		t.Run(name, func(t *testing.T) {
			all := manyOf(workloads)
			if test.change != nil {
				test.change(all)
			}
			s := snapshot(t, test.sidecar, all...)
			s.Platform = given(t, map[string]string{desired.PolicyKey: overrides}, nil)
			renders := 0
			s.Observer = func(_ context.Context, step desired.Step) func(error) {
				if step == desired.Render {
					renders++
				}
				return func(error) {}
			}
			memory := newMemory()
			for range 2 {
				decided := memory.decide(t, s)
				require.Len(t, decided.Plans, workloads)
				require.Equal(t, test.want, renders)
			}
		})
	}
}

// With cached renderings, the decision is the same as without them.
func TestDecide_ReturnsSameDecisionFromCache(t *testing.T) {
	memory := newMemory()
	for _, sidecar := range []*v1alpha1.VectorSidecar{logs().Build(), logs().WithLogs("/var/log/app").Build(), logs().Named("shipper").Build()} {
		for _, policy := range []string{"", "images: {requireDigest: true}"} {
			s := snapshot(t, sidecar, manyOf(3)...)
			s.Platform = given(t, map[string]string{desired.PolicyKey: policy}, nil)
			for range 2 {
				remembered := memory.decide(t, s)
				fresh := decide(t, s)
				require.Equal(t, fresh, remembered)
			}
		}
	}
}
