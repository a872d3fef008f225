// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/companion"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

func deployment(name, label string) client.Object {
	object := objects.NewDeployment(name, "shop").Labeled("logs", label).Build()
	object.ResourceVersion = ""
	return object
}

func sidecar(name, label string) *objects.VectorSidecar {
	return objects.NewVectorSidecar(name, "shop").Selecting("logs", label)
}

// sameSnapshot compares the fields of two snapshots that a decision reads.
func sameSnapshot(t *testing.T, want, got *decision.Input) {
	t.Helper()
	configMap := func(object *corev1.ConfigMap) map[string]string {
		if object == nil {
			return nil
		}
		return map[string]string{"name": object.Name, "version": object.ResourceVersion, "content": companion.KnownDigest(object)}
	}
	require.Empty(t, cmp.Diff(want, got,
		cmpopts.IgnoreFields(decision.Input{}, "PodsNotRead", "BlindHalt", "WrittenGeneration", "OwnedSidecarWriter", "AdmissionBlocker", "OnNodes", "Verdict", "Observer", "Platform", "Budget", "Now", "ConfigMaps", "Accounts"),
		cmpopts.IgnoreUnexported(decision.Input{}),
		cmpopts.IgnoreFields(v1alpha1.VectorSidecar{}, "ManagedFields"),
		cmpopts.SortSlices(func(a, b *workloadcache.Record) int { return strings.Compare(a.Name, b.Name) }),
		cmpopts.SortSlices(func(a, b corev1.ConfigMap) int { return strings.Compare(a.Name, b.Name) }),
		cmp.Transformer("view", func(record *workloadcache.Record) workload.View { return record.View() }),
		cmp.Transformer("configMap", func(object corev1.ConfigMap) map[string]string { return configMap(&object) }),
		cmpopts.EquateEmpty(),
	))
}

// The operator, which watches the cluster, and the plugin, which reads it, take the same snapshot of the same objects.
// So a preview matches the operator.
func TestSnapshots_EqualSnapshotOfPlugin(t *testing.T) {
	older := metav1.NewTime(time.Now().Add(-time.Hour).Truncate(time.Second))
	for name, of := range map[string]struct {
		sidecar *v1alpha1.VectorSidecar
		beside  []client.Object
	}{
		"nothing beside it": {sidecar: sidecar("logs", "vector").Build()},
		"several workloads": {
			sidecar: sidecar("logs", "vector").Build(),
			beside:  []client.Object{deployment("cart", "vector"), deployment("checkout", "vector"), deployment("basket", "other")},
		},
		"others, of which one selects the same": {
			sidecar: sidecar("logs", "vector").Build(),
			beside: []client.Object{deployment("cart", "vector"), func() client.Object {
				same := sidecar("audit", "vector").Build()
				same.CreationTimestamp = older
				return same
			}(), sidecar("metrics", "other").Build()},
		},
		"defaults of the namespace, and a label": {
			sidecar: sidecar("logs", "vector").Build(),
			beside: []client.Object{
				deployment("cart", "vector"), objects.NewConfigMap(meta.NamespaceDefaults, "shop", meta.NamespaceDefaultsKey, "{}"),
				&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop", Labels: map[string]string{meta.LabelEnvironment: "staging"}}},
			},
		},
		"a ConfigMap that it refers to": {
			sidecar: sidecar("logs", "vector").WithConfigMap("shipping", "vector.yaml").Build(),
			beside:  []client.Object{deployment("cart", "vector"), objects.NewConfigMap("shipping", "shop", "vector.yaml", objects.VectorConfig("one"))},
		},
		"one that does not exist": {
			sidecar: sidecar("logs", "vector").WithConfigMap("shipping", "vector.yaml").Build(), beside: []client.Object{deployment("cart", "vector")},
		},
		"companions of its own and of another one": {
			sidecar: sidecar("logs", "vector").Build(),
			beside: []client.Object{
				deployment("cart", "vector"), companionOf("logs-vector-1", "logs"), companionOf("audit-vector-1", "audit"),
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			api := newMemoryAPI(t, interceptor.Funcs{}, append(of.beside, of.sidecar)...)
			api.load(t)
			asked := &v1alpha1.VectorSidecar{}
			require.NoError(t, api.Get(t.Context(), client.ObjectKeyFromObject(of.sidecar), asked))
			known := api.memory.GetOrCreate(client.ObjectKeyFromObject(asked))
			operators, err := api.snapshots.takeSnapshot(t.Context(), asked, known, nil, true)
			require.NoError(t, err)
			decided, err := decision.Decide(t.Context(), operators, nil)
			require.NoError(t, err)

			world, unseen, err := source.Load(t.Context(), api.WithWatch, source.Scope{Namespace: "shop"})
			require.NoError(t, err)
			require.Empty(t, unseen)
			reader := source.Snapshotter{
				Source: source.Reader{Reader: world}, Platform: operators.Platform,
				Settings: operators.Settings, WorkloadKinds: operators.WorkloadKinds,
			}
			plugins, err := reader.Observe(t.Context(), asked)
			require.NoError(t, err)
			previewed, err := decision.Decide(t.Context(), plugins, nil)
			require.NoError(t, err)

			sameSnapshot(t, operators, plugins)
			require.Equal(t, decided.Invalid, previewed.Invalid)
			require.ElementsMatch(t, decided.ConfigMaps(), previewed.ConfigMaps())
			require.Len(t, previewed.Plans, len(decided.Plans))
			for i := range decided.Plans {
				require.Equal(t, decided.Plans[i].Action(), previewed.Plans[i].Action())
				require.Equal(t, decided.Plans[i].InjectedHash(), previewed.Plans[i].InjectedHash())
			}
		})
	}
}
