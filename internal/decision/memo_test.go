// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/catalog"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
	"kontroloop.ai/vector-sidecar-operator/internal/template"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// fleet are so many workloads, each with a folder for its logs.
func fleet(n int) []*appsv1.Deployment {
	var all []*appsv1.Deployment
	for i := range n {
		all = append(all, objects.NewDeployment(fmt.Sprintf("app-%04d", i), "shop").Labelled("logs", "vector").WithEmptyDir("logs", "/var/log/app").Build())
	}
	return all
}

// A fan-out renders as often as there are distinct inputs, and a second pass not at
// all.
func TestAFanOutRendersOncePerDistinctInput(t *testing.T) {
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
			all := fleet(workloads)
			if test.change != nil {
				test.change(all)
			}
			s := snapshot(t, test.sidecar, all...)
			s.Platform = given(t, map[string]string{catalog.PolicyKey: overrides}, nil)
			renders := 0
			s.Observer = func(_ context.Context, step Step) func(error) {
				if step == Render {
					renders++
				}
				return func(error) {}
			}
			memo := NewMemo()
			for range 2 {
				decided, err := Decide(t.Context(), s, memo)
				require.NoError(t, err)
				require.Len(t, decided.Plans, workloads)
				require.Equal(t, test.want, renders)
			}
		})
	}
}

// What is remembered is what would be rendered.
func TestMemoryChangesNoDecision(t *testing.T) {
	memo := NewMemo()
	for _, sidecar := range []*v1alpha1.VectorSidecar{logs().Build(), logs().WithLogs("/var/log/app").Build(), logs().Named("shipper").Build()} {
		for _, policy := range []string{"", "images: {requireDigest: true}"} {
			s := snapshot(t, sidecar, fleet(3)...)
			s.Platform = given(t, map[string]string{catalog.PolicyKey: policy}, nil)
			for range 2 {
				remembered, err := Decide(t.Context(), s, memo)
				require.NoError(t, err)
				fresh, err := Decide(t.Context(), s, nil)
				require.NoError(t, err)
				require.Equal(t, fresh, remembered)
			}
		}
	}
}

// A rendering that took too long may have shared the processor with others.
func TestALateRenderingIsNotRemembered(t *testing.T) {
	target := settled(fleet(1)[0])
	for _, late := range []bool{false, true} {
		b := &batch{memo: NewMemo(), common: []byte("common")}
		b.keep(&target, &wanted{late: late})
		require.Equal(t, late, remembered(b.memo, b.memo.rendered, b.common) == nil)
	}
}

// A rendering is shared by the workloads that look the same to what it read.
func TestARenderingIsSharedByWhatItRead(t *testing.T) {
	b := &batch{memo: NewMemo(), common: []byte("common")}
	target := settled(fleet(1)[0])
	forAll, ofName := &wanted{}, &wanted{readTarget: []template.Read{{Path: []string{"name"}}}}
	find := func(view workload.View) *wanted {
		for _, reads := range b.memo.readBy(b.common) {
			if found := remembered(b.memo, b.memo.rendered, b.appendKey(nil, &view, reads)); found != nil {
				return found
			}
		}
		return nil
	}
	b.keep(&target, ofName)
	same, other := target, target
	same.Labels, same.Containers = nil, nil
	other.Name = "another"
	require.Same(t, ofName, find(same))
	require.Nil(t, find(other))

	b.keep(&target, forAll)
	require.Same(t, forAll, find(other))
}

// Templates that look up a label by the name of the workload read something else of each:
// so many kinds of reads are not gone through for every workload.
func TestKindsOfReadsAreBounded(t *testing.T) {
	b := &batch{memo: NewMemo(), common: []byte("common")}
	for i := range 100 {
		view := settled(fleet(1)[0])
		view.Name = fmt.Sprint(i)
		reads := []template.Read{{Path: []string{"labels", view.Name}}, {Path: []string{"name"}}}
		fresh := &wanted{readTarget: reads}
		b.keep(&view, fresh)
		require.Same(t, fresh, b.rendered(t.Context(), &view))
	}
	require.Len(t, b.memo.readBy(b.common), mostReads+1)
}

func TestEveryDifferenceThatTemplatesSeeIsAnotherInput(t *testing.T) {
	seen := map[string]string{}
	b, all := &batch{}, []template.Read{{Seen: template.Whole}}
	for name, change := range map[string]func(*workload.View){
		"nothing":           func(*workload.View) {},
		"the name":          func(v *workload.View) { v.Name = "card" },
		"the namespace":     func(v *workload.View) { v.Namespace = "shops" },
		"the kind":          func(v *workload.View) { v.Kind = "StatefulSet" },
		"a letter moved":    func(v *workload.View) { v.Name, v.Namespace = "carts", "hop" },
		"a label":           func(v *workload.View) { v.Labels = map[string]string{"a": "b"} },
		"an annotation":     func(v *workload.View) { v.Labels, v.Annotations = nil, map[string]string{"a": "b"} },
		"a container":       func(v *workload.View) { v.Containers[0].Name = "apps" },
		"another container": func(v *workload.View) { v.Containers = append(v.Containers, workload.Container{Name: "b"}) },
		"a port":            func(v *workload.View) { v.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 1}} },
		"another port":      func(v *workload.View) { v.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 2}} },
		"a port's name":     func(v *workload.View) { v.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 2, Name: "x"}} },
		"a port's protocol": func(v *workload.View) {
			v.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 2, Protocol: "UDP"}}
		},
		"a mount":    func(v *workload.View) { v.Containers[0].Mounts[0].MountPath = "/x" },
		"a sub path": func(v *workload.View) { v.Containers[0].Mounts[0].SubPath = "x" },
		"the volume": func(v *workload.View) { v.Containers[0].Mounts[0].Name = "x" },
		"no mount":   func(v *workload.View) { v.Containers[0].Mounts = nil },
		"no label":   func(v *workload.View) { v.Labels = nil },
		"the mount is another's": func(v *workload.View) {
			v.Containers = append(v.Containers, workload.Container{Name: "b", Mounts: v.Containers[0].Mounts})
			v.Containers[0].Mounts = nil
		},
	} {
		view := settled(fleet(1)[0])
		change(&view)
		of := string(b.appendKey(nil, &view, all))
		require.NotContains(t, seen, of, "%s and %s", name, seen[of])
		seen[of] = name
	}
	before, after := settled(fleet(1)[0]), settled(fleet(1)[0])
	after.UID, after.ResourceVersion, after.Generation = types.UID("other"), "9", 3
	after.Containers = append([]workload.Container{{Name: "vector", Init: true}}, after.Containers...)
	require.Equal(t, before.Values(), after.Values())
	require.Equal(t, b.appendKey(nil, &before, all), b.appendKey(nil, &after, all), "what templates do not see is no other input")
}

// BenchmarkMemoHit is a pass for one workload whose rendering is remembered.
func BenchmarkMemoHit(b *testing.B) {
	files := given(b, nil, nil)
	set, err := files.Set("")
	require.NoError(b, err)
	for name, sidecar := range map[string]*v1alpha1.VectorSidecar{"common": logs().Build(), "per workload": logs().WithLogs("/var/log/app").Build()} {
		b.Run(name, func(b *testing.B) {
			layer, err := LayerOf(sidecar)
			require.NoError(b, err)
			values, err := set.Environments.Values("production", layer)
			require.NoError(b, err)
			batch := NewMemo().batch(render.Request{
				Chart: set.Chart, Values: values, KubeVersion: "v1.36.0", Sidecar: types.NamespacedName{Namespace: "shop", Name: "logs"},
			}, config{}, &Snapshot{Platform: files}, asked{})
			deployment := fleet(1)[0]
			deployment.Annotations = map[string]string{"team": "payments", "example.com/contact": "payments@example.com"}
			deployment.Labels["app.kubernetes.io/part-of"] = "shop"
			view := workload.Of(deployment)
			require.Nil(b, batch.want(b.Context(), &view).invalid)
			b.ReportAllocs()
			for b.Loop() {
				batch.want(b.Context(), &view)
			}
			require.Equal(b, 1, batch.memo.rendered.Len())
		})
	}
}

// BenchmarkRender is what a hit spares, checks and policy included.
func BenchmarkRender(b *testing.B) {
	files := given(b, nil, nil)
	set, err := files.Set("")
	require.NoError(b, err)
	values, err := set.Environments.Values("production")
	require.NoError(b, err)
	var none *Memo
	batch := none.batch(render.Request{
		Chart: set.Chart, Values: values, KubeVersion: "v1.36.0", Sidecar: types.NamespacedName{Namespace: "shop", Name: "logs"},
	}, config{}, &Snapshot{Platform: files}, asked{})
	view := workload.Of(fleet(1)[0])
	b.ReportAllocs()
	for b.Loop() {
		require.Nil(b, batch.want(b.Context(), &view).invalid)
	}
}
