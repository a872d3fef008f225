// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// The fleet has many VectorSidecars in some namespaces, with a few workloads each.
const (
	namespaces, sidecarsEach, workloadsEach = 10, 20, 5

	allOfFleet = namespaces * sidecarsEach * workloadsEach
	places     = 20
	// killEvery is the number of injected workloads between two kills of the operator.
	killEvery = allOfFleet / 8
)

// lateWorkloads counts the workloads of a fleet whose rollout is in progress.
type lateWorkloads struct {
	mu       sync.Mutex
	going    map[types.UID]bool
	injected map[types.UID]bool
	most     int
}

func (l *lateWorkloads) see(d *appsv1.Deployment) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if d.Annotations[meta.AnnotationInjected] != "true" {
		return
	}
	l.injected[d.UID] = true
	delete(l.going, d.UID)
	if d.Status.ObservedGeneration != d.Generation || !isComplete(d) {
		l.going[d.UID] = true
	}
	l.most = max(l.most, len(l.going))
}

func (l *lateWorkloads) count() (injected, most int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.injected), l.most
}

// followDeployments calls see for every labeled Deployment, and again for each change, until the test ends.
func followDeployments(t *testing.T, see func(*appsv1.Deployment)) {
	t.Helper()
	watching, err := client.NewWithWatch(world.Config, client.Options{Scheme: world.Client.Scheme()})
	require.NoError(t, err)
	stream, err := watching.Watch(t.Context(), &appsv1.DeploymentList{}, client.HasLabels{"logs"})
	require.NoError(t, err)
	go func() {
		defer stream.Stop()
		for event := range stream.ResultChan() { // It ends with the context.
			if d, isOne := event.Object.(*appsv1.Deployment); isOne {
				see(d)
			}
		}
	}()
}

// Two hundred VectorSidecars share twenty rollout slots, and the operator is killed again and again. Each new one reads
// from the cluster which rollouts are in progress, so the limit is never exceeded.
func TestSlotAllocator_LimitsFleetAcrossKills(t *testing.T) {
	onlyInFull(t)
	binary, err := harness.BuildOperator(t.Context(), t.TempDir())
	require.NoError(t, err)
	home := world.Namespace(t)
	world.SetValues(t, objects.NewConfigMap("environments", home, desired.RolloutKey, fmt.Sprintf("maxConcurrent: %d", places)))
	var watched []string
	for range namespaces {
		namespace := world.Namespace(t)
		watched = append(watched, namespace)
		for n := range sidecarsEach {
			label := fmt.Sprint("of-", n)
			for m := range workloadsEach {
				world.Create(t, objects.NewDeployment(fmt.Sprintf("app-%d-%d", n, m), namespace).WithReplicas(0).Labeled("logs", label).Build())
			}
			world.Create(t, objects.NewVectorSidecar(label, namespace).Selecting("logs", label).WithSoak(time.Second).Build())
		}
	}
	late := &lateWorkloads{going: map[types.UID]bool{}, injected: map[types.UID]bool{}}
	followDeployments(t, late.see)

	arguments := []string{"--namespace=" + home, "--environments-configmap=environments", "--watch-namespaces=" + strings.Join(watched, ",")}
	began, kills := time.Now(), 0
	running := harness.StartProcess(t, binary, plane.Kubeconfig(), harness.Settings{Arguments: arguments})
	for {
		injected, most := late.count()
		require.LessOrEqual(t, most, places)
		if injected == allOfFleet {
			break
		}
		require.Less(t, time.Since(began), 20*time.Minute, "%d of %d are injected", injected, allOfFleet)
		if injected >= (kills+1)*killEvery {
			kills++
			running.Kill()
			running = harness.StartProcess(t, binary, plane.Kubeconfig(), harness.Settings{Arguments: arguments})
		}
		require.NoError(t, pause(t.Context()))
	}
	running.Kill()
	_, most := late.count()
	t.Logf("%d workloads of %d VectorSidecars in %s, with an operator that was killed %d times: %d at once at most, with %d places",
		allOfFleet, namespaces*sidecarsEach, time.Since(began).Round(time.Second), kills, most, places)
	require.Positive(t, kills)
	require.Greater(t, most, 1)
}

const (
	// killedWorkloads is the number of Deployments that change while the operator is killed mostKills times.
	killedWorkloads, mostKills = 150, 10
)

// generationsOf returns the generations of the labeled Deployments of a namespace that have a sidecar and have rolled
// out.
func generationsOf(t *testing.T, namespace string) map[string]int64 {
	t.Helper()
	var all appsv1.DeploymentList
	require.NoError(t, world.Client.List(t.Context(), &all, client.InNamespace(namespace), client.HasLabels{"logs"}))
	generations := map[string]int64{}
	for i := range all.Items {
		d := &all.Items[i]
		if d.Annotations[meta.AnnotationInjected] == "true" && d.Status.ObservedGeneration == d.Generation && isComplete(d) {
			generations[d.Name] = d.Generation
		}
	}
	return generations
}

// The operator is killed again and again while it changes 150 Deployments. Each Deployment gets one new generation.
func TestVectorSidecar_ChangesWorkloadsOnceAfterKills(t *testing.T) {
	onlyInFull(t)
	binary, err := harness.BuildOperator(t.Context(), t.TempDir())
	require.NoError(t, err)
	home, namespace := world.Namespace(t), world.Namespace(t)
	for i := range killedWorkloads {
		world.Create(t, objects.NewDeployment(fmt.Sprint("app-", i), namespace).WithReplicas(0).Labeled("logs", "vector").Build())
	}
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithInlineConfig(objects.VectorConfig("first")).Build()
	world.Create(t, vs)
	start := func() *harness.Process {
		return harness.StartProcess(t, binary, plane.Kubeconfig(), harness.Settings{Arguments: []string{"--namespace=" + home, "--watch-namespaces=" + namespace}})
	}
	running := start()
	harness.Eventually(t, "the sidecars", func() bool { return len(generationsOf(t, namespace)) == killedWorkloads })
	before := generationsOf(t, namespace)
	changed := func() (count int) {
		for name, generation := range generationsOf(t, namespace) {
			require.LessOrEqual(t, generation, before[name]+1, name)
			if generation > before[name] {
				count++
			}
		}
		return count
	}

	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Sidecar.Config.Inline = objects.VectorConfig("second") })
	for kill := range mostKills {
		harness.Eventually(t, "more changed Deployments", func() bool { return changed() > kill*killedWorkloads/(mostKills+1) })
		running.Kill()
		running = start()
	}
	harness.Eventually(t, "the change in all workloads", func() bool { return changed() == killedWorkloads })
	running.Kill()
}
