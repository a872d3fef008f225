// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
)

// The preStop sleep is shortened to the grace period of the pod, by default 30 seconds, because the API server
// rejects pods with a longer sleep.
func TestDecide_LimitsDrainToGracePeriod(t *testing.T) {
	for name, test := range map[string]struct {
		grace   *int64
		drain   int64
		warning string
	}{
		"nothing said":     {grace: nil, drain: 13},
		"enough":           {grace: new(int64(60)), drain: 13},
		"just enough":      {grace: new(int64(13)), drain: 13, warning: "draining may take 28 s, but the pod's grace period is 13 s"},
		"less":             {grace: new(int64(12)), drain: 12, warning: "drains for 12 s instead of 13 s, because terminationGracePeriodSeconds of the pods is 12"},
		"less than a file": {grace: new(int64(4)), drain: 4, warning: "is 4, and Vector may need 12 s to read new lines of a file that had no new lines for a while"},
		"no time at all":   {grace: new(int64(0)), drain: 0, warning: "does not drain for 13 s, because terminationGracePeriodSeconds of the pods is 0"},
		"the least there":  {grace: new(int64(1)), drain: 1, warning: "drains for 1 s"},
	} {
		t.Run(name, func(t *testing.T) {
			deployment := cart()
			deployment.Spec.Template.Spec.TerminationGracePeriodSeconds = test.grace
			p := decide(t, snapshot(t, logs().Build(), deployment)).Plans[0]
			require.Equal(t, plan.Inject, p.Change, p.Message())
			require.Contains(t, p.Warning, test.warning)
			lifecycle := p.Desired.Container("vector").Lifecycle
			if test.drain == 0 {
				require.Nil(t, lifecycle)
				return
			}
			require.Equal(t, test.drain, lifecycle.PreStop.Sleep.Seconds)
		})
	}
}

// A drain gate does not wait longer than the pod's grace period. If a pod cannot have a gate, a warning reports it.
func TestDecide_LimitsDrainGateToGracePeriod(t *testing.T) {
	for name, test := range map[string]struct {
		grace   int64
		native  v1alpha1.NativeMode
		seconds string
		warning string
	}{
		"enough":       {grace: 60, seconds: "13"},
		"just enough":  {grace: 13, seconds: "13", warning: "draining may take 28 s, but the pod's grace period is 13 s"},
		"less":         {grace: 12, seconds: "12", warning: "drains for 12 s instead of 13 s, because terminationGracePeriodSeconds of the pods is 12"},
		"none at all":  {grace: 0, seconds: "0", warning: "does not drain for 13 s"},
		"no gate here": {grace: 60, native: "Never", warning: "drains by Sleep and not by Gate: a gate needs a native sidecar"},
	} {
		t.Run(name, func(t *testing.T) {
			deployment := cart()
			deployment.Spec.Template.Spec.TerminationGracePeriodSeconds = &test.grace
			sidecar := logs().Sidecar(func(spec *v1alpha1.SidecarSpec) {
				spec.Native = test.native
				spec.Logs = &v1alpha1.LogsSpec{Path: "/var/log/app", Containers: []string{"*"}}
				spec.Shutdown = &v1alpha1.ShutdownSpec{Method: "Gate"}
			}).Build()
			p := decide(t, snapshot(t, sidecar, deployment)).Plans[0]
			require.Equal(t, plan.Inject, p.Change, p.Message())
			require.Contains(t, p.Warning, test.warning)
			gate := p.Desired.Container("vector-drain-gate")
			if test.seconds == "" {
				require.Nil(t, gate)
				return
			}
			require.Equal(t, corev1.EnvVar{Name: meta.VariableDrainSeconds, Value: test.seconds}, gate.Env[0])
			require.Nil(t, p.Desired.Container("vector").Lifecycle)
		})
	}
}

// Workloads have different grace periods. The drain of each one is shortened to its own period, and workloads with the
// same period share a rendering.
func TestDecide_ShortensDrainPerGracePeriod(t *testing.T) {
	full, short, alike := cart(), cart(), cart()
	short.Name, alike.Name = "short", "alike"
	short.Spec.Template.Spec.TerminationGracePeriodSeconds = new(int64(2))
	alike.Spec.Template.Spec.TerminationGracePeriodSeconds = new(int64(2))
	memory := newMemory()
	decided := memory.decide(t, snapshot(t, logs().Build(), full, short, alike))
	byName := map[string]*plan.Desired{}
	for i := range decided.Plans {
		byName[decided.Plans[i].Target.Name] = decided.Plans[i].Desired
	}
	require.Same(t, byName["short"], byName["alike"])
	require.NotEqual(t, byName["cart"].InjectedHash(), byName["short"].InjectedHash())
	require.Equal(t, int64(13), byName["cart"].Container("vector").Lifecycle.PreStop.Sleep.Seconds)
	require.Len(t, decided.Companions, 1, "the configuration is the same")
}
