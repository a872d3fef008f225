// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/types"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/policy"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

func logs() *objects.VectorSidecar {
	return objects.NewVectorSidecar("logs", "shop").Selecting("logs", "vector")
}

// builtIn is a Platform with the built-in chart only.
func builtIn(t testing.TB) *Platform {
	t.Helper()
	chart, err := render.LoadChart(vectorsidecar.FS)
	require.NoError(t, err)
	none, err := policy.Parse("policy", nil)
	require.NoError(t, err)
	platform := &Platform{Policy: none, Environments: chart.Environments}
	platform.Add(&TemplateSet{Name: DefaultTemplateSet, Chart: chart, Environments: chart.Environments})
	return platform
}

// services returns n workloads, each with a log folder of its own.
func services(n int) []*appsv1.Deployment {
	var all []*appsv1.Deployment
	for i := range n {
		all = append(all, objects.NewDeployment(fmt.Sprintf("app-%04d", i), "shop").Labeled("logs", "vector").WithEmptyDir("logs", "/var/log/app").Build())
	}
	return all
}

// settled is the view of a workload whose rollout is complete.
func settled(deployment *appsv1.Deployment) workload.View {
	view := workload.NewView(deployment)
	view.UID, view.Rollout, view.Evidence = types.UID(deployment.Name), workload.RolloutComplete, 1
	return view
}

// A rendering that ran out of time may have had to share the CPU.
func TestCache_SkipsTimedOutRendering(t *testing.T) {
	target := settled(services(1)[0])
	for _, late := range []bool{false, true} {
		r := &renderer{cache: NewCache(), common: []byte("common")}
		r.cacheResult(&target, &Rendered{TimedOut: late})
		require.Equal(t, late, getCached(r.cache, r.cache.rendered, r.common) == nil)
	}
}

// Workloads share a rendering if they have the same values where it read them.
func TestCache_SharesRenderingByReads(t *testing.T) {
	r := &renderer{cache: NewCache(), common: []byte("common")}
	target := settled(services(1)[0])
	forAll, ofName := &Rendered{}, &Rendered{readTarget: []tree.Read{{Path: []string{"name"}}}}
	find := func(view workload.View) *Rendered {
		for _, reads := range r.cache.readBy(r.common) {
			if found := getCached(r.cache, r.cache.rendered, r.appendKey(nil, &view, reads)); found != nil {
				return found
			}
		}
		return nil
	}
	r.cacheResult(&target, ofName)
	same, other := target, target
	same.Labels, same.Containers = nil, nil
	other.Name = "another"
	require.Same(t, ofName, find(same))
	require.Nil(t, find(other))

	r.cacheResult(&target, forAll)
	require.Same(t, forAll, find(other))
}

// Templates that do not read the namespace are executed once for all namespaces, and what they
// render is in each of them.
func TestSharedRendering_ServesSeveralNamespaces(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*objects.VectorSidecar) *objects.VectorSidecar
		// runs and overlays are how many there are for three namespaces.
		runs, overlays int
		policy         string
	}{
		"the built-in templates": {func(s *objects.VectorSidecar) *objects.VectorSidecar { return s }, 1, 1, ""},
		"a preset that reads the namespace": {func(s *objects.VectorSidecar) *objects.VectorSidecar {
			return s.Sidecar(func(s *v1alpha1.SidecarSpec) {
				s.Sinks = map[string]apiextensionsv1.JSON{"loki": {Raw: []byte(`{"type": "loki", "endpoint": "http://loki.example"}`)}}
			})
		}, 3, 3, ""},
		"a policy that keeps an annotation out": {func(s *objects.VectorSidecar) *objects.VectorSidecar {
			return s.Sidecar(func(s *v1alpha1.SidecarSpec) { s.NodeAgents = "Exclude" })
		}, 1, 3, "reservedDomains: [datadoghq.com]"},
	} {
		t.Run(name, func(t *testing.T) {
			judging, err := policy.Parse("policy", []byte(test.policy))
			require.NoError(t, err)
			cache, runs, overlays := NewCache(), 0, map[*corev1.PodTemplateSpec]bool{}
			for _, namespace := range []string{"shop", "pay", "mail"} {
				made := of(t, test.change(objects.NewVectorSidecar("logs", namespace).WithLogs("/var/log/app")).Build(), cache)
				made.sources.Observer = func(_ context.Context, step Step) func(error) {
					if step == Render {
						runs++
					}
					return func(error) {}
				}
				made.CommonVariant().renderer.observer = made.sources.Observer
				made.CommonVariant().renderer.policy = judging
				view := settled(services(1)[0])
				view.Namespace = namespace
				rendered := made.CommonVariant().WorkloadFor(t.Context(), &view)
				require.Nil(t, rendered.Invalid)
				require.Len(t, rendered.Rendered.Companions, 1)
				require.Equal(t, namespace, rendered.Rendered.Companions[0].Namespace)
				overlays[rendered.Desired.Template()] = true
			}
			require.Equal(t, test.runs, runs)
			require.Equal(t, test.overlays, len(overlays)) //nolint:testifylint // It would print them.
		})
	}
}

// Templates that look up a label by the name of the workload read something else of
// each: the cache must not search all these sets of reads for every workload.
func TestCache_BoundsSetsOfReads(t *testing.T) {
	r := &renderer{cache: NewCache(), common: []byte("common")}
	for i := range 100 {
		view := settled(services(1)[0])
		view.Name = fmt.Sprint(i)
		reads := []tree.Read{{Path: []string{"labels", view.Name}}, {Path: []string{"name"}}}
		fresh := &Rendered{readTarget: reads}
		r.cacheResult(&view, fresh)
		require.Same(t, fresh, r.renderCached(t.Context(), &view))
	}
	require.Len(t, r.cache.readBy(r.common), mostReads+1)
}

func TestAppendKey_DiffersForVisibleInput(t *testing.T) {
	seen := map[string]string{}
	r, all := &renderer{}, []tree.Read{{Aspect: tree.WholeValue}}
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
		view := settled(services(1)[0])
		change(&view)
		of := string(r.appendKey(nil, &view, all))
		require.NotContains(t, seen, of, "%s and %s", name, seen[of])
		seen[of] = name
	}
	before, after := settled(services(1)[0]), settled(services(1)[0])
	after.UID, after.ResourceVersion, after.Generation = types.UID("other"), "9", 3
	after.Containers = append([]workload.Container{{Name: "vector", Init: true}}, after.Containers...)
	require.Equal(t, before.Values(), after.Values())
	require.Equal(t, r.appendKey(nil, &before, all), r.appendKey(nil, &after, all), "what templates do not see is no other input")
}

// BenchmarkCacheHit is a pass for one workload with a cached rendering.
func BenchmarkCacheHit(b *testing.B) {
	files := builtIn(b)
	set, err := files.Set("")
	require.NoError(b, err)
	for name, sidecar := range map[string]*v1alpha1.VectorSidecar{"common": logs().Build(), "per workload": logs().WithLogs("/var/log/app").Build()} {
		b.Run(name, func(b *testing.B) {
			layer, err := LayerFor(sidecar)
			require.NoError(b, err)
			values, err := set.Environments.Values("production", layer)
			require.NoError(b, err)
			made := newRenderer(NewCache(), render.Request{
				Chart: set.Chart, Values: values, KubeVersion: "v1.36.0", Sidecar: types.NamespacedName{Namespace: "shop", Name: "logs"},
			}, digestValues(values), config{}, &Inputs{Platform: files}, requestedInputs{})
			deployment := services(1)[0]
			deployment.Annotations = map[string]string{"team": "payments", "example.com/contact": "payments@example.com"}
			deployment.Labels["app.kubernetes.io/part-of"] = "shop"
			view := workload.NewView(deployment)
			require.Nil(b, made.render(b.Context(), &view).Invalid)
			b.ReportAllocs()
			for b.Loop() {
				made.render(b.Context(), &view)
			}
			require.Equal(b, 1, made.cache.rendered.Len())
		})
	}
}

// BenchmarkRender is what a hit saves, checks and policy included.
func BenchmarkRender(b *testing.B) {
	files := builtIn(b)
	set, err := files.Set("")
	require.NoError(b, err)
	values, err := set.Environments.Values("production")
	require.NoError(b, err)
	made := newRenderer(nil, render.Request{
		Chart: set.Chart, Values: values, KubeVersion: "v1.36.0", Sidecar: types.NamespacedName{Namespace: "shop", Name: "logs"},
	}, digestValues(values), config{}, &Inputs{Platform: files}, requestedInputs{})
	view := workload.NewView(services(1)[0])
	b.ReportAllocs()
	for b.Loop() {
		require.Nil(b, made.render(b.Context(), &view).Invalid)
	}
}

// A tenant may have as many large configurations as there is room for objects.
func TestCache_BoundsBytes(t *testing.T) {
	cache, target := NewCache(), settled(services(1)[0])
	for n := range 100 {
		r := &renderer{cache: cache, common: fmt.Appendf(nil, "request %d", n)}
		fresh := &Rendered{Companions: []corev1.ConfigMap{{Data: map[string]string{"vector.yaml": strings.Repeat("x", 500_000)}}}}
		r.cacheResult(&target, fresh)
		require.Same(t, fresh, getCached(cache, cache.rendered, r.common))
	}
	require.LessOrEqual(t, cache.rendered.Bytes(), mostRendered)
	require.InDelta(t, mostRendered/500_000, cache.rendered.Len(), 2)
}

// Cuts made later count as part of the rendering.
func TestCache_CountsLaterCuts(t *testing.T) {
	cache := NewCache()
	r := &renderer{cache: cache, common: []byte("common")}
	target, fresh := settled(services(1)[0]), &Rendered{}
	r.cacheResult(&target, fresh)
	before := cache.rendered.Bytes()
	cache.grow(fresh, 1000)
	require.Equal(t, before+1000, cache.rendered.Bytes())
	cache.grow(&Rendered{}, 1000)
	require.Equal(t, before+1000, cache.rendered.Bytes(), "nobody remembers this one")
}

// 10,000 workloads that differ only in their names and labels, with and without a log volume, need one rendering.
func TestCache_RendersWorkloadsOfOneShapeOnce(t *testing.T) {
	for name, sidecar := range map[string]*v1alpha1.VectorSidecar{"common": logs().Build(), "with a log volume": logs().WithLogs("/var/log/app").Build()} {
		t.Run(name, func(t *testing.T) {
			renderings := 0
			variant := of(t, sidecar, NewCache()).CommonVariant()
			variant.renderer.observer = func(_ context.Context, step Step) func(error) {
				if step == Render {
					renderings++
				}
				return func(error) {}
			}
			view := settled(services(1)[0])
			for n := range 10_000 {
				view.Name = fmt.Sprintf("app-%d", n)
				view.Labels = map[string]string{"app": view.Name, "logs": "vector"}
				require.Nil(t, variant.WorkloadFor(t.Context(), &view).Invalid)
			}
			require.Equal(t, 1, renderings)
		})
	}
}
