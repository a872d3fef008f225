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
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// Of the namespaces of a fleet in waves, one is a canary's, two are early, the rest is the rest.
const (
	sidecarsInWaves, workloadsInWaves = 10, 20

	allInWaves = namespaces * sidecarsInWaves * workloadsInWaves
	waveSoak   = 5 * time.Second
)

// waveOf is the wave of the n-th namespace.
func waveOf(n int) string {
	switch {
	case n == 0:
		return "canary"
	case n < 3:
		return "early"
	}
	return "rest"
}

// timeline is when the workloads of each wave got which log level.
type timeline struct {
	mu     sync.Mutex
	began  time.Time
	waves  map[string]string // by namespace
	levels map[types.UID]string
	counts map[string]map[string]int // how many have a level, by level and wave
	// first and last are when a wave's first and last workload got a level.
	first, last map[string]map[string]time.Duration
	// tooEarly are the workloads that got a level before the waves before had it.
	tooEarly []string
}

func newTimeline() *timeline {
	return &timeline{
		began: time.Now(), waves: map[string]string{}, levels: map[types.UID]string{}, counts: map[string]map[string]int{},
		first: map[string]map[string]time.Duration{}, last: map[string]map[string]time.Duration{},
	}
}

// ofWave is how many workloads a wave has.
func (l *timeline) ofWave(wave string) int {
	count := 0
	for _, one := range l.waves {
		if one == wave {
			count += sidecarsInWaves * workloadsInWaves
		}
	}
	return count
}

func (l *timeline) see(d *appsv1.Deployment) {
	level := ""
	for _, c := range d.Spec.Template.Spec.InitContainers {
		for _, variable := range c.Env {
			if variable.Name == "VECTOR_LOG" {
				level = variable.Value
			}
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if level == "" || l.levels[d.UID] == level {
		return
	}
	l.levels[d.UID] = level
	wave, at := l.waves[d.Namespace], time.Since(l.began)
	if l.counts[level] == nil {
		l.counts[level], l.first[level], l.last[level] = map[string]int{}, map[string]time.Duration{}, map[string]time.Duration{}
	}
	if l.counts[level][wave]++; l.counts[level][wave] == 1 {
		l.first[level][wave] = at
	}
	l.last[level][wave] = at
	for _, before := range map[string][]string{"early": {"canary"}, "rest": {"canary", "early"}}[wave] {
		if l.counts[level][before] < l.ofWave(before) || at < l.last[level][before] {
			l.tooEarly = append(l.tooEarly, fmt.Sprintf("%s/%s of wave %s has %s, and %d of wave %s", d.Namespace, d.Name, wave, level, l.counts[level][before], before))
		}
	}
}

func (l *timeline) have(level string) (all int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, n := range l.counts[level] {
		all += n
	}
	return all
}

// Two thousand workloads in three waves get one change after another, with an operator that is
// killed again and again. One of the changes is bad: it reaches nobody.
func TestAFleetKeepsToItsWaves(t *testing.T) {
	onlyInFull(t)
	binary, err := harness.BuildOperator(t.Context(), t.TempDir())
	require.NoError(t, err)
	home := world.Namespace(t)
	values := objects.NewConfigMap("environments", home, desired.RolloutKey, fmt.Sprintf(`waves:
- {name: canary, namespaceSelector: {matchLabels: {wave: canary}}, soak: %s}
- {name: early, namespaceSelector: {matchLabels: {wave: early}}, soak: %s}
halt: {}`, waveSoak, waveSoak))
	give := func(sidecar string) {
		harness.Change(t, world, values, func(c *corev1.ConfigMap) { c.Data["development.yaml"] = "sidecar: " + sidecar })
	}
	world.Create(t, values)
	seen := newTimeline()
	var watched []string
	var first *v1alpha1.VectorSidecar
	for n := range namespaces {
		namespace := world.Namespace(t)
		watched = append(watched, namespace)
		seen.waves[namespace] = waveOf(n)
		harness.Change(t, world, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, func(ns *corev1.Namespace) {
			metav1.SetMetaDataLabel(&ns.ObjectMeta, "wave", waveOf(n))
		})
		for n := range sidecarsInWaves {
			label := fmt.Sprint("of-", n)
			for m := range workloadsInWaves {
				world.Create(t, objects.NewDeployment(fmt.Sprintf("app-%d-%d", n, m), namespace).WithReplicas(0).Labelled("logs", label).Build())
			}
			vs := objects.NewVectorSidecar(label, namespace).Selecting("logs", label).WithSoak(0).Build()
			world.Create(t, vs)
			if first == nil {
				first = vs
			}
		}
	}
	seen.began = time.Now()
	followDeployments(t, seen.see)

	arguments := []string{"--namespace=" + home, "--environments-configmap=environments", "--watch-namespaces=" + strings.Join(watched, ",")}
	kills := 0
	running := harness.StartProcess(t, binary, plane.Kubeconfig(), harness.Settings{Arguments: arguments})
	reaches := func(level string) {
		t.Helper()
		since, next := time.Now(), allInWaves/4
		for {
			reached := seen.have(level)
			if reached == allInWaves {
				return
			}
			require.Less(t, time.Since(since), 10*time.Minute, "%d of %d have %s", reached, allInWaves, level)
			if reached >= next {
				kills, next = kills+1, next+allInWaves/4
				running.Kill()
				running = harness.StartProcess(t, binary, plane.Kubeconfig(), harness.Settings{Arguments: arguments})
			}
			require.NoError(t, pause(t.Context()))
		}
	}
	give("{logLevel: info}")
	reaches("info")
	give("{logLevel: warn}")
	reaches("warn")
	give("{logLevel: error, image: 7}")
	harness.Until(t, world, first, "the halt", func(vs *v1alpha1.VectorSidecar) bool {
		return vs.Status.Rollout != nil && vs.Status.Rollout.State == v1alpha1.RolloutHalted
	})
	halted := time.Since(seen.began)
	require.Zero(t, seen.have("error"))
	give("{logLevel: trace}")
	reaches("trace")
	running.Kill()

	for _, level := range []string{"info", "warn", "trace"} {
		for _, wave := range []string{"canary", "early", "rest"} {
			t.Logf("%-5s %-6s %4d workloads, from %5.1f s to %5.1f s", level, wave, seen.counts[level][wave],
				seen.first[level][wave].Seconds(), seen.last[level][wave].Seconds())
		}
		require.GreaterOrEqual(t, seen.first[level]["early"]-seen.last[level]["canary"], waveSoak-time.Second, "a status has whole seconds")
		require.GreaterOrEqual(t, seen.first[level]["rest"]-seen.last[level]["early"], waveSoak-time.Second)
	}
	t.Logf("the bad one is halted at %.1f s and reached nobody; the operator was killed %d times", halted.Seconds(), kills)
	require.Empty(t, seen.tooEarly)
	require.Positive(t, kills)
}
