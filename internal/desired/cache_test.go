// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
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

// readingName is builtIn with templates that read the name of the workload.
func readingName(t testing.TB) *Platform {
	t.Helper()
	files, err := render.ReadFiles(vectorsidecar.FS)
	require.NoError(t, err)
	files["templates/name.yaml"] = []byte("{{- $_ := .Values.target.name }}")
	chart, err := files.Load()
	require.NoError(t, err)
	platform := builtIn(t)
	platform.Add(&TemplateSet{Name: DefaultTemplateSet, Chart: chart, Environments: chart.Environments})
	return platform
}

// counting counts how often a step starts.
func counting(counted Step, count *int) Observer {
	return func(_ context.Context, step Step) func(error) {
		if step == counted {
			*count++
		}
		return func(error) {}
	}
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

// keep caches a rendering for a workload.
func keep(r *renderer, target *workload.View, fresh *Rendered) {
	fresh.shared.keys = append(fresh.shared.keys, string(r.common))
	fresh.cacheIn(r.cache, r.cache.keyFor(r.common, target, fresh.readTarget))
}

// renderings are those in a cache.
func renderings(cache *Cache) []*Rendered {
	var all []*Rendered
	for entry := range cache.entries.All() {
		if rendered, ok := entry.Value.(*Rendered); ok {
			all = append(all, rendered)
		}
	}
	return all
}

// A rendering that exceeded its time is not cached, because it may only have lacked CPU time.
func TestCache_DoesNotStoreTimedOutRendering(t *testing.T) {
	target := settled(services(1)[0])
	expired, cancel := context.WithDeadline(t.Context(), time.Now())
	defer cancel()
	for _, late := range []bool{false, true} {
		r, ctx := of(t, logs().Build(), NewCache()).CommonVariant().renderer, t.Context()
		if late {
			ctx = expired
		}
		require.Equal(t, late, r.renderCached(ctx, &target).TimedOut)
		require.Equal(t, late, len(renderings(r.cache)) == 0)
	}
}

// Two workloads share a rendering if the templates have read the same values of both.
func TestCache_SharesRenderingOfEqualReads(t *testing.T) {
	r := &renderer{cache: NewCache(), common: []byte("common")}
	target := settled(services(1)[0])
	forAll, ofName := &Rendered{}, &Rendered{readTarget: []tree.Read{{Path: []string{"name"}}}}
	find := func(view workload.View) *Rendered { return findCached[Rendered](r.cache, r.common, &view) }
	keep(r, &target, ofName)
	same, other := target, target
	same.Labels, same.Containers = nil, nil
	other.Name = "another"
	require.Same(t, ofName, find(same))
	require.Nil(t, find(other))

	keep(r, &target, forAll)
	require.Same(t, forAll, find(other))
}

// Templates that do not read the namespace are executed once for several namespaces. The rendered objects have the
// namespace of each.
func TestExecution_ServesSeveralNamespaces(t *testing.T) {
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
		}, 1, 1, "reservedDomains: [datadoghq.com]"},
	} {
		t.Run(name, func(t *testing.T) {
			platform := builtIn(t)
			var err error
			platform.Policy, err = policy.Parse("policy", []byte(test.policy))
			require.NoError(t, err)
			cache, runs, overlays := NewCache(), 0, map[*corev1.PodTemplateSpec]bool{}
			for _, namespace := range []string{"shop", "pay", "mail"} {
				made := ofPlatform(t, platform, test.change(objects.NewVectorSidecar("logs", namespace).WithLogs("/var/log/app")).Build(), cache)
				made.CommonVariant().renderer.observer = counting(Render, &runs)
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

// Templates that read a label named after the workload read something else of each workload. The cache limits how many
// sets of reads it compares.
func TestCache_LimitsSetsOfReads(t *testing.T) {
	r := &renderer{cache: NewCache(), common: []byte("common")}
	for i := range 100 {
		view := settled(services(1)[0])
		view.Name = fmt.Sprint(i)
		reads := []tree.Read{{Path: []string{"labels", view.Name}}, {Path: []string{"name"}}}
		fresh := &Rendered{readTarget: reads}
		keep(r, &view, fresh)
		require.Same(t, fresh, r.renderCached(t.Context(), &view))
	}
	require.Len(t, getCached[[][]tree.Read](r.cache, r.common), maxReadLists+1)
}

// Two inputs of the rendering have different cache keys if templates can read the difference.
func TestAppendKey_DiffersIfTemplatesReadDifference(t *testing.T) {
	seen := map[string]string{}
	all := []tree.Read{{Aspect: tree.WholeValue}}
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
		of := string(appendKey(nil, nil, &view, all))
		require.NotContains(t, seen, of, "%s and %s", name, seen[of])
		seen[of] = name
	}
	before, after := settled(services(1)[0]), settled(services(1)[0])
	after.UID, after.ResourceVersion, after.Generation = types.UID("other"), "9", 3
	after.Containers = append([]workload.Container{{Name: "vector", Init: true}}, after.Containers...)
	require.Equal(t, before.Values(), after.Values())
	require.Equal(t, appendKey(nil, nil, &before, all), appendKey(nil, nil, &after, all), "what templates do not see is no other input")
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
			}, digestValues(values), configReference{}, &Inputs{Platform: files}, requestedInputs{})
			deployment := services(1)[0]
			deployment.Annotations = map[string]string{"team": "payments", "example.com/contact": "payments@example.com"}
			deployment.Labels["app.kubernetes.io/part-of"] = "shop"
			view := workload.NewView(deployment)
			require.Nil(b, made.render(b.Context(), &view).Invalid)
			b.ReportAllocs()
			for b.Loop() {
				made.render(b.Context(), &view)
			}
			require.Len(b, renderings(made.cache), 1)
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
	}, digestValues(values), configReference{}, &Inputs{Platform: files}, requestedInputs{})
	view := workload.NewView(services(1)[0])
	b.ReportAllocs()
	for b.Loop() {
		require.Nil(b, made.render(b.Context(), &view).Invalid)
	}
}

// A tenant may have many large configurations. The cache stays within its limit of bytes.
func TestCache_LimitsBytes(t *testing.T) {
	cache, target := NewCache(), settled(services(1)[0])
	for n := range 100 {
		r := &renderer{cache: cache, common: fmt.Appendf(nil, "request %d", n)}
		fresh := &Rendered{Companions: []corev1.ConfigMap{{Data: map[string]string{"vector.yaml": strings.Repeat("x", 500_000)}}}}
		keep(r, &target, fresh)
		require.Same(t, fresh, findCached[Rendered](cache, r.common, &target))
	}
	require.LessOrEqual(t, cache.entries.Bytes(), maxCacheBytes)
	require.InDelta(t, maxCacheBytes/500_000, len(renderings(cache)), 2)
}

// A cached value stays as long as other cached values use it. Dropping it earlier would lower the counted bytes, but
// free no memory.
func TestCache_KeepsValuesInUse(t *testing.T) {
	cache, target := NewCache(), settled(services(1)[0])
	made := of(t, logs().WithLogs("/var/log/app").Build(), cache).CommonVariant().renderer
	uses := 0
	for n := range 1000 {
		cache.put(fmt.Sprint(n), "", 500_000)
		target.GraceSeconds = new(int64(n % 10))
		require.NotEmpty(t, made.render(t.Context(), &target).shortened)
		for entry := range cache.entries.All() {
			for _, key := range entry.Uses {
				require.NotNil(t, getCached[any](cache, []byte(key)))
				uses++
			}
		}
	}
	require.Greater(t, uses, 1000, "the rendering, its desired state, its report, its ConfigMaps, the execution")
	require.LessOrEqual(t, cache.entries.Bytes(), maxCacheBytes)
}

// Goroutines use one cache, and render without waiting for each other.
func TestCache_SupportsConcurrentUse(t *testing.T) {
	cache, sidecar := NewCache(), logs().WithLogs("/var/log/app").Build()
	var group sync.WaitGroup
	for n := range 8 {
		renderer := of(t, sidecar, cache).CommonVariant().renderer
		group.Go(func() {
			view := settled(services(1)[0])
			for grace := range int64(10) {
				view.Name, view.GraceSeconds = fmt.Sprintf("app-%d", n), &grace
				assert.Nil(t, renderer.render(t.Context(), &view).Invalid)
			}
		})
	}
	group.Wait()
	require.Len(t, renderings(cache), 11, "one, and one for each grace period")
}

// Many workloads differ only in their names and labels. They need one rendering with a log volume, and one without. If
// the templates read the name, each workload needs one.
func TestCache_RendersWorkloadsOfOneShapeOnce(t *testing.T) {
	for name, test := range map[string]struct {
		sidecar         *v1alpha1.VectorSidecar
		platform        *Platform
		workloads, want int
	}{
		"common":            {logs().Build(), builtIn(t), 10_000, 1},
		"with a log volume": {logs().WithLogs("/var/log/app").Build(), builtIn(t), 10_000, 1},
		"reading the name":  {logs().Build(), readingName(t), 100, 100},
	} {
		t.Run(name, func(t *testing.T) {
			renderings := 0
			variant := ofPlatform(t, test.platform, test.sidecar, NewCache()).CommonVariant()
			variant.renderer.observer = counting(Render, &renderings)
			view := settled(services(1)[0])
			for n := range 2 * test.workloads {
				view.Name = fmt.Sprintf("app-%d", n%test.workloads)
				view.Labels = map[string]string{"app": view.Name, "logs": "vector"}
				require.Nil(t, variant.WorkloadFor(t.Context(), &view).Invalid)
			}
			require.Equal(t, test.want, renderings)
		})
	}
}
