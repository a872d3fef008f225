// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
	"kontroloop.ai/vector-sidecar-operator/internal/simulate"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// sample is one of docs/samples in its own namespace.
type sample struct {
	sidecar   *v1alpha1.VectorSidecar
	needsLogs bool
	// snapshot is the operator's input without the workloads.
	snapshot decision.Input
	// cache is a cache as in the plugin.
	cache  *desired.Cache
	merger *simulate.Merger
	watch  *watched
}

// loadSamples creates a namespace for each sample that injects a sidecar.
func loadSamples(t *testing.T) []*sample {
	t.Helper()
	root, err := harness.Root()
	require.NoError(t, err)
	files, err := filepath.Glob(filepath.Join(root, "docs", "samples", "*.yaml"))
	require.NoError(t, err)
	chart, err := render.LoadChart(vectorsidecar.FS)
	require.NoError(t, err)
	server, err := discovery.NewDiscoveryClientForConfig(world.Config)
	require.NoError(t, err)
	version, err := server.ServerVersion()
	require.NoError(t, err)
	merger, err := simulate.New()
	require.NoError(t, err)
	var all []*sample
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		documents, err := source.Parse(file, text, nil)
		require.NoError(t, err)
		namespace := world.Namespace(t)
		one := &sample{merger: merger, cache: desired.NewCache(), watch: watch(t, namespace), snapshot: decision.Input{Inputs: desired.Inputs{
			Settings: desired.Settings{DefaultEnvironment: "development", KubeVersion: version.GitVersion}, Platform: desired.NewPlatform(chart, "values.yaml", nil),
		}}}
		configMaps := objects.ConfigMapSet{}
		for _, document := range documents {
			object := document.Object
			if object == nil {
				continue // A Secret, which only pods look at.
			}
			object.SetNamespace(namespace)
			switch object := object.(type) {
			case *corev1.ConfigMap:
				configMaps[client.ObjectKeyFromObject(object)] = object
			case *v1alpha1.VectorSidecar:
				one.sidecar = object
				hurry(object)
			}
			if _, isCluster := object.(*v1alpha1.ClusterVectorSidecar); isCluster {
				continue // It would select the namespaces of others.
			}
			world.Create(t, object)
		}
		if one.sidecar == nil || one.sidecar.Spec.Enabled != nil && !*one.sidecar.Spec.Enabled {
			continue
		}
		one.snapshot.Sidecar = one.sidecar
		one.snapshot.ConfigMaps, one.snapshot.Accounts = configMaps, source.Reader{Reader: source.NewObjectOverlay(nil)}
		one.needsLogs = !one.takes(t, Bare())
		require.True(t, !one.needsLogs || one.takes(t, Logging()), "%s injects into neither base", file)
		all = append(all, one)
	}
	return all
}

// hurry makes a VectorSidecar select all kinds, also with hostNetwork, and not wait for rollouts, because no
// controllers run.
func hurry(sidecar *v1alpha1.VectorSidecar) {
	everything := intstr.FromString("100%")
	if sidecar.Spec.Rollout == nil {
		sidecar.Spec.Rollout = &v1alpha1.RolloutSpec{}
	}
	sidecar.Spec.Rollout.MaxConcurrent = &everything
	sidecar.Spec.HostNetwork = v1alpha1.HostNetworkInject
	for _, kind := range Kinds() {
		sidecar.Spec.Workloads = append(sidecar.Spec.Workloads, v1alpha1.WorkloadKind(kind.Name))
	}
}

// takes reports whether the sidecar is injected into a base.
func (s *sample) takes(t *testing.T, base map[string]any) bool {
	t.Helper()
	deployment := &appsv1.Deployment{}
	require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(base, deployment))
	deployment.Namespace, deployment.Name = s.sidecar.Namespace, "base"
	s.turn(deployment, true)
	p, err := s.plan(t.Context(), deployment)
	require.NoError(t, err)
	return p != nil && p.HasChange(plan.Inject)
}

// turn selects or deselects a workload: by its labels, or by its annotation if the sample selects all workloads.
func (s *sample) turn(object workload.Object, on bool) {
	labels, annotations := maps.Clone(object.GetLabels()), maps.Clone(object.GetAnnotations())
	for key, value := range s.sidecar.Spec.Selector.MatchLabels {
		delete(labels, key)
		if on {
			labels[key] = value
		}
	}
	delete(annotations, meta.AnnotationInject)
	if s.sidecar.Spec.MatchAll && !on {
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[meta.AnnotationInject] = "false"
	}
	object.SetLabels(labels)
	object.SetAnnotations(annotations)
}

// planning serializes plans, because a rendering has a deadline.
var planning sync.Mutex

// plan returns the operator's changes to a workload, nil for none.
func (s *sample) plan(ctx context.Context, object workload.Object) (*plan.Plan, error) {
	planning.Lock()
	defer planning.Unlock()
	snapshot := s.snapshot
	snapshot.Workloads = []*workloadcache.Record{workloadcache.NewRecord(object)}
	decided, err := decision.Decide(ctx, &snapshot, s.cache)
	if err != nil || len(decided.Plans) == 0 {
		return nil, err
	}
	return &decided.Plans[0], nil
}
