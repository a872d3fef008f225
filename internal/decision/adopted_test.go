// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// flips is a namespace whose ConfigMaps somebody changes while the first of two
// workloads rolls out and the second waits.
type flips struct {
	*Snapshot

	configMaps objects.ConfigMapSet
}

// holds sets a ConfigMap.
func (f *flips) holds(object *corev1.ConfigMap) { f.configMaps[inShop(object.Name)] = object }

func pipeline(message string) *corev1.ConfigMap {
	return objects.NewConfigMap("pipeline", "shop", "vector.yaml", objects.VectorConfig(message))
}

func newFlips(t *testing.T) *flips {
	t.Helper()
	next := cart()
	next.Name = "next"
	vs := logs().WithConfigMap("pipeline", "").WithMaxConcurrent("1").Build()
	vs.Generation = 1
	f := &flips{snapshot(t, vs, cart(), next), objects.ConfigMapSet{}}
	f.Platform = given(t, map[string]string{desired.PolicyKey: "overrides: {namespaces: [sidecar.logLevel]}"}, nil)
	f.ConfigMaps = f.configMaps
	f.Now = noon
	f.holds(pipeline("one"))
	decided := decide(t, f.Snapshot)
	require.NotEmpty(t, decided.Adopted.ConfigMaps, "a rollout begins")
	carried(f.Snapshot, &decided.Plans[0])
	f.is(workload.RolloutProgressing)
	f.Adopted, f.Companions = decided.Adopted, written(decided.Companions)
	return f
}

// is sets the rollout state of the first workload.
func (f *flips) is(rollout workload.Rollout) {
	change(f.Snapshot, func(v *workload.View) { v.Rollout, v.StateSince = rollout, noon.Add(-time.Hour) })
}

// The content of a ConfigMap changes during a rollout. The change starts when the rollout has ended.
func TestDecide_DelaysChangedContentUntilRolloutEnds(t *testing.T) {
	f := newFlips(t)
	f.holds(pipeline("two"))

	decided := decide(t, f.Snapshot)
	require.Equal(t, []string{"pipeline"}, decided.Waiting)
	require.Equal(t, plan.None, decided.Plans[0].Change, "it goes on with what it was begun with")
	require.Equal(t, meta.ReasonWaitingForSlot, decided.Plans[1].Reason())
	require.Equal(t, f.Adopted, decided.Adopted)

	f.is(workload.RolloutComplete)
	decided = decide(t, f.Snapshot)
	require.Equal(t, []string{"pipeline"}, decided.Waiting)
	require.True(t, decided.Plans[1].Writes(), "the last workload has its turn before the first has another")
	require.Empty(t, decided.Missing, "with what is there")

	f.Workloads = f.Workloads[:1]
	decided = decide(t, f.Snapshot)
	require.Empty(t, decided.Waiting)
	require.Equal(t, plan.Update, decided.Plans[0].Change)
	require.Len(t, decided.Missing, 1)
	require.Equal(t, f.configMaps[inShop("pipeline")], decided.Adopted.ConfigMaps["pipeline"])
}

// A changed ConfigMap waits for the end of a rollout. If the rollout fails, the spec changes, a user pauses, or the
// operator restarts, the content is applied at once.
func TestDecide_AppliesDelayedContentAfterInterruption(t *testing.T) {
	for name, change := range map[string]func(*flips){
		"the rollout has failed":       func(f *flips) { f.is(workload.RolloutFailed) },
		"the spec changes":             func(f *flips) { f.Sidecar.Generation++ },
		"the rollout is paused":        func(f *flips) { f.is(workload.RolloutComplete); f.Sidecar.Spec.Rollout.Paused = true },
		"nobody remembers (a restart)": func(f *flips) { f.Adopted = decision.Adopted{} },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFlips(t)
			f.holds(pipeline("two"))
			change(f)

			decided := decide(t, f.Snapshot)

			require.Empty(t, decided.Waiting)
			require.Equal(t, plan.Update, decided.Plans[0].Change)
		})
	}
}

// Invalid content of a ConfigMap is reported during the rollout. The rollout continues with the earlier content.
func TestDecide_ReportsInvalidContentWithoutDelay(t *testing.T) {
	for name, change := range map[string]func(*flips){
		"no Vector configuration": func(f *flips) { f.holds(objects.NewConfigMap("pipeline", "shop", "vector.yaml", "sinks: {}")) },
		"gone":                    func(f *flips) { delete(f.configMaps, inShop("pipeline")) },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFlips(t)
			change(f)

			decided := decide(t, f.Snapshot)

			require.NotNil(t, decided.Invalid)
			require.Empty(t, decided.Waiting)
			require.Equal(t, f.Adopted, decided.Adopted)
		})
	}
}

// A user changes the defaults of the namespace, which are another ConfigMap, during a rollout. The change starts when
// the rollout has ended.
func TestDecide_DelaysNamespaceDefaultsUntilRolloutEnds(t *testing.T) {
	defaults := func(level string) *corev1.ConfigMap {
		return objects.NewConfigMap(meta.NamespaceDefaults, "shop", meta.NamespaceDefaultsKey, "sidecar: {logLevel: "+level+"}")
	}
	f := newFlips(t)
	f.holds(defaults("warn"))
	f.Adopted = decision.Adopted{}
	f.is(workload.RolloutComplete)
	decided := decide(t, f.Snapshot)
	require.Equal(t, plan.Update, decided.Plans[0].Change)
	carried(f.Snapshot, &decided.Plans[0])
	f.is(workload.RolloutProgressing)
	f.Adopted = decided.Adopted

	f.holds(defaults("error"))

	decided = decide(t, f.Snapshot)
	require.Equal(t, []string{meta.NamespaceDefaults}, decided.Waiting)
	require.Equal(t, plan.None, decided.Plans[0].Change)
}

// During a rollout, the earlier content of a ConfigMap is used. It is dropped when the rollout has ended.
func TestDecide_DropsEarlierContentAfterRollout(t *testing.T) {
	f := newFlips(t)
	f.is(workload.RolloutComplete)
	f.Workloads = f.Workloads[:1]

	require.Zero(t, decide(t, f.Snapshot).Adopted)
}
