// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package injection

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/test/corpus"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// number is how many workloads of each kind are taken from the corpus; 0 takes every value of every field.
var number = flag.Int("workloads", 60, "workloads of each kind out of the corpus; 0 for all")

// With the mutating policies, the API server accepts each workload that it accepts without them. When the operator
// adopts the injected sidecar, it does not change the pod template.
func TestOverlaySet_DoesNotRejectValidWorkloads(t *testing.T) {
	t.Parallel()
	const seed = 21
	plain, under := world.Namespace(t), world.Namespace(t)
	kindsOf := []v1alpha1.WorkloadKind{"Deployment", "StatefulSet", "DaemonSet", "CronJob", "Rollout"}
	metrics := objects.NewVectorSidecar("metrics", under).Selecting("logs", "vector").For(kindsOf...).Build()
	traces := newInjectingSidecar("traces", under, "LOG_ADDRESS", kindsOf...)
	world.Create(t, metrics, traces)
	awaitOverlay(t, metrics)
	awaitOverlay(t, traces)
	untilActive(t, objects.NewDeployment("any", under).Labeled("logs", "vector").Build(), "vector-otlp")

	var mu sync.Mutex
	admitted, injected, refused := 0, 0, 0
	var kept []*unstructured.Unstructured
	try := func(of *corpus.Workload, at int) {
		object := func(namespace string) *unstructured.Unstructured {
			made := &unstructured.Unstructured{Object: of.Kind.Placed(runtime.DeepCopyJSON(of.Writes[0].Object))}
			made.SetNamespace(namespace)
			made.SetName(fmt.Sprintf("any-%d", at))
			labels := made.GetLabels()
			if labels == nil {
				labels = map[string]string{}
			}
			labels["logs"] = "vector"
			made.SetLabels(labels)
			return made
		}
		without, with := object(plain), object(under)
		err := world.Client.Create(t.Context(), without, client.DryRunAll)
		errUnder := world.Client.Create(t.Context(), with, client.DryRunAll)
		mu.Lock()
		defer mu.Unlock()
		switch {
		case err != nil:
			refused++
		case errUnder != nil:
			t.Errorf("%s: admitted without, and under the policies: %v", of.About, errUnder)
		default:
			admitted++
			if hasSidecar(with) {
				injected++
				if injected%7 == 0 && len(kept) < 60 {
					kept = append(kept, object(under))
				}
			}
		}
	}
	group, slots := sync.WaitGroup{}, make(chan struct{}, 16)
	at := 0
	for _, kind := range corpus.Kinds() {
		for _, base := range []map[string]any{corpus.Bare(), corpus.Logging()} {
			for _, drawn := range draw(t, kind, seed, base) {
				at++
				slots <- struct{}{}
				group.Add(1)
				go func(n int) {
					defer group.Done()
					defer func() { <-slots }()
					try(&drawn, n)
				}(at)
			}
		}
	}
	group.Wait()
	t.Logf("%d workloads: %d admitted without and under the policies, %d of them with a sidecar; %d refused without", at, admitted, injected, refused)
	require.Positive(t, injected)

	for _, one := range kept {
		require.NoError(t, world.Client.Create(t.Context(), one))
		t.Cleanup(func() { _ = world.Client.Delete(context.WithoutCancel(t.Context()), one) })
		before := typed(t, one)
		after, _ := before.DeepCopyObject().(workload.Object)
		var object client.Object = after
		harness.Until(t, world, object, "the adoption by the operator", func(of client.Object) bool {
			return (!has(of, "vector") || isAdopted("metrics")(of)) && (!has(of, "vector-otlp") || isAdopted("traces")(of))
		})
		require.Equal(t, workload.PodTemplate(before), workload.PodTemplate(after), one.GetName())
	}
}

// draw selects half of the workloads from those with one changed field, and half from those with several.
func draw(t *testing.T, kind *corpus.Kind, seed uint64, base map[string]any) []corpus.Workload {
	t.Helper()
	all, err := corpus.Singles(kind, base)
	require.NoError(t, err)
	count := len(all)
	if *number > 0 {
		random := rand.New(rand.NewPCG(seed, 1))
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		count = *number / 4
		all = all[:count]
	}
	more, err := corpus.Random(kind, seed, count, base)
	require.NoError(t, err)
	return append(all, more...)
}

func hasSidecar(object *unstructured.Unstructured) bool {
	one, err := asTyped(object)
	return err == nil && (has(one, "vector") || has(one, "vector-otlp"))
}

func asTyped(object *unstructured.Unstructured) (workload.Object, error) {
	typed := workload.KindByName(object.GetKind()).New()
	return typed, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, typed)
}

func typed(t *testing.T, object *unstructured.Unstructured) workload.Object {
	t.Helper()
	one, err := asTyped(object)
	require.NoError(t, err)
	return one
}
