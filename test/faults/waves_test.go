// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"bytes"
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
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/cli"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// One namespace of the fleet is in the wave canary, two are in early, and the others are in the default wave.
const (
	sidecarsInWaves, workloadsInWaves = 10, 20

	allInWaves = namespaces * sidecarsInWaves * workloadsInWaves
	waveSoak   = 5 * time.Second
)

// waveOf returns the wave of the n-th namespace.
func waveOf(n int) string {
	switch {
	case n == 0:
		return "canary"
	case n < 3:
		return "early"
	}
	return "default"
}

// timeline records when the workloads of each wave received which log level.
type timeline struct {
	mu     sync.Mutex
	began  time.Time
	waves  map[string]string // by namespace
	levels map[types.UID]string
	counts map[string]map[string]int // how many have a level, by level and wave
	// first and last are the times at which a wave's first and last workload received a level.
	first, last map[string]map[string]time.Duration
	// had are the previous levels of a workload, and returned counts the workloads that received one again.
	had      map[types.UID]map[string]bool
	returned int
	// tooEarly are the workloads that received a level before the preceding waves had it.
	tooEarly []string
}

func newTimeline() *timeline {
	return &timeline{
		began: time.Now(), waves: map[string]string{}, levels: map[types.UID]string{}, counts: map[string]map[string]int{},
		first: map[string]map[string]time.Duration{}, last: map[string]map[string]time.Duration{}, had: map[types.UID]map[string]bool{},
	}
}

// ofWave returns the number of workloads in a wave.
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
	level := levelOf(d)
	l.mu.Lock()
	defer l.mu.Unlock()
	if level == "" || l.levels[d.UID] == level {
		return
	}
	l.levels[d.UID] = level
	if l.had[d.UID] == nil {
		l.had[d.UID] = map[string]bool{}
	}
	if l.had[d.UID][level] {
		l.returned++
		return
	}
	l.had[d.UID][level] = true
	wave, at := l.waves[d.Namespace], time.Since(l.began)
	if l.counts[level] == nil {
		l.counts[level], l.first[level], l.last[level] = map[string]int{}, map[string]time.Duration{}, map[string]time.Duration{}
	}
	if l.counts[level][wave]++; l.counts[level][wave] == 1 {
		l.first[level][wave] = at
	}
	l.last[level][wave] = at
	for _, before := range map[string][]string{"early": {"canary"}, "default": {"canary", "early"}}[wave] {
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

// has returns the number of workloads that have a level now.
func (l *timeline) has(level string) (all int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, now := range l.levels {
		if now == level {
			all++
		}
	}
	return all
}

// Two thousand workloads in three waves get several revisions, while the operator is killed again and again. One
// revision fails: only workloads of the first wave get it, and they revert.
func TestWave_KeepsOrderAcrossKills(t *testing.T) {
	onlyInFull(t)
	binary, err := harness.BuildOperator(t.Context(), t.TempDir())
	require.NoError(t, err)
	home := world.Namespace(t)
	values := objects.NewConfigMap("environments", home, desired.RolloutKey, fmt.Sprintf(`waves:
- {name: canary, namespaceSelector: {matchLabels: {wave: canary}}, soak: %s}
- {name: early, namespaceSelector: {matchLabels: {wave: early}}, soak: %s}
halt: {}
onFailure: Revert`, waveSoak, waveSoak))
	operator := objects.NewDeployment("operator", home).WithReplicas(0).Labeled("app.kubernetes.io/component", "operator").Build()
	operator.Spec.Template.Spec.Containers[0].Args = []string{"--environments-configmap=environments"}
	world.Create(t, operator)
	status := func() string { return rolloutStatus(t, home) }
	give := func(sidecar string) {
		harness.Change(t, world, values, func(c *corev1.ConfigMap) { c.Data["development.yaml"] = "sidecar: " + sidecar })
	}
	world.SetValues(t, values)
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
				world.Create(t, objects.NewDeployment(fmt.Sprintf("app-%d-%d", n, m), namespace).WithReplicas(1).Labeled("logs", label).Build())
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

	arguments := []string{"--namespace=" + home, "--environments-configmap=environments", "--watch-namespaces=" + strings.Join(watched, ","), "--read-pods"}
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
	require.Eventually(t, func() bool { return strings.Contains(status(), "70/70") }, time.Minute, time.Second, "all are done")
	t.Logf("a good change is everywhere:\n%s", status())

	give("{logLevel: error, image: registry.example/vector:dies}")
	harness.Until(t, world, first, "the revert", func(vs *v1alpha1.VectorSidecar) bool {
		return vs.Status.Rollout != nil && vs.Status.Rollout.RevertedFrom != ""
	})
	halted := time.Since(seen.began)
	running.Kill()
	running, kills = harness.StartProcess(t, binary, plane.Kubeconfig(), harness.Settings{Arguments: arguments}), kills+1
	require.Eventually(t, func() bool { return seen.have("error") > 0 && seen.has("error") == 0 }, 5*time.Minute, 100*time.Millisecond, "all have what they had before")
	harness.Until(t, world, first, "the end of the revert", func(vs *v1alpha1.VectorSidecar) bool {
		return vs.Status.Rollout.State == v1alpha1.RolloutReverted && vs.Status.Rollout.CompletionTime != nil
	})
	back := time.Since(seen.began)
	t.Logf("a bad change has been reverted:\n%s", status())
	require.Equal(t, seen.have("error"), seen.counts["error"]["canary"], "none of the waves after the first got it")
	require.Equal(t, allInWaves, seen.has("warn"))
	give("{logLevel: trace}")
	reaches("trace")
	running.Kill()
	logStored(t, home)

	for _, level := range []string{"info", "warn", "trace"} {
		for _, wave := range []string{"canary", "early", "default"} {
			t.Logf("%-5s %-6s %4d workloads, from %5.1f s to %5.1f s", level, wave, seen.counts[level][wave],
				seen.first[level][wave].Seconds(), seen.last[level][wave].Seconds())
		}
		require.GreaterOrEqual(t, seen.first[level]["early"]-seen.last[level]["canary"], waveSoak-time.Second, "a status has whole seconds")
		require.GreaterOrEqual(t, seen.first[level]["default"]-seen.last[level]["early"], waveSoak-time.Second)
	}
	t.Logf("the bad one reached %d workloads of the first wave, was halted at %.1f s, and all were back at %.1f s; the operator was killed %d times",
		seen.have("error"), halted.Seconds(), back.Seconds(), kills)
	require.Empty(t, seen.tooEarly)
	require.Positive(t, kills)
}

// rolloutStatus returns the output of the plugin's rollout status.
func rolloutStatus(t *testing.T, home string) string {
	t.Helper()
	var out, rest bytes.Buffer
	streams := genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &out, ErrOut: &rest}
	arguments := []string{"rollout", "status", "--operator-namespace", home, "--kubeconfig", plane.Kubeconfig()}
	code := cli.Run(t.Context(), arguments, streams, cli.Builtin{Chart: vectorsidecar.FS, Definition: vectorsidecar.Definition}, "test")
	require.Zero(t, code, rest.String())
	return out.String()
}

// logStored logs the size of the stored revisions in etcd, which does not depend on the number of VectorSidecars.
func logStored(t *testing.T, home string) {
	t.Helper()
	var stored appsv1.ControllerRevisionList
	require.NoError(t, world.Client.List(t.Context(), &stored, client.InNamespace(home)))
	bytes := 0
	for i := range stored.Items {
		bytes += stored.Items[i].Size()
	}
	t.Logf("%d ControllerRevisions of %d bytes are stored", len(stored.Items), bytes)
	require.NotEmpty(t, stored.Items)
}
