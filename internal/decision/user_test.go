// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/pod-security-admission/api"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/policy"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// Values can take the sidecar's user from several sources. With each of them, the pod meets the restricted Pod Security
// level.
func TestDecide_RunsSidecarAsRequestedUser(t *testing.T) {
	for name, test := range map[string]struct {
		user        v1alpha1.UserMode
		platform    string
		runAsUser   *int64
		application *int64
		want        *int64
	}{
		"by default":                             {want: new(int64(65532))},
		"by default on OpenShift":                {platform: render.OpenShift},
		"fixed on OpenShift":                     {user: "Fixed", platform: render.OpenShift, want: new(int64(65532))},
		"another number on OpenShift":            {platform: render.OpenShift, runAsUser: new(int64(1000)), want: new(int64(1000))},
		"another number, and the platform's":     {user: "Platform", platform: render.OpenShift, runAsUser: new(int64(1000))},
		"the platform's elsewhere":               {user: "Platform"},
		"the application's":                      {user: "Application", application: new(int64(1000650000)), want: new(int64(1000650000))},
		"the application's on OpenShift":         {user: "Application", platform: render.OpenShift, application: new(int64(7)), want: new(int64(7))},
		"the application's that OpenShift gives": {user: "Application", platform: render.OpenShift},
	} {
		t.Run(name, func(t *testing.T) {
			deployment := objects.NewDeployment("cart", "shop").Labeled("logs", "vector").WithEmptyDir("logs", "/var/log/app").Pod(func(pod *corev1.PodSpec) {
				pod.Containers[0].SecurityContext = &corev1.SecurityContext{RunAsUser: test.application}
			}).Build()
			sidecar := logs().WithLogs("/var/log/app").Sidecar(func(s *v1alpha1.SidecarSpec) {
				s.User = test.user
				if test.runAsUser != nil {
					s.SecurityContext = &corev1.SecurityContext{RunAsUser: test.runAsUser}
				}
			}).Build()
			s := snapshot(t, sidecar, deployment)
			s.Cluster, s.NamespaceLabels = render.Cluster{Platform: test.platform}, map[string]string{api.EnforceLevelLabel: "restricted"}
			p := decide(t, s).Plans[0]
			require.Equal(t, plan.Inject, p.Change, p.Message())
			context := p.Desired.Container("vector").SecurityContext
			require.Equal(t, test.want, context.RunAsUser)
			require.True(t, *context.RunAsNonRoot)
		})
	}
}

// The sidecar's user is outside of the range that OpenShift assigns to the namespace. The workload is blocked.
func TestDecide_BlocksUserOutsideOpenShiftRange(t *testing.T) {
	s := snapshot(t, logs().Sidecar(func(s *v1alpha1.SidecarSpec) { s.User = "Fixed" }).Build(), cart())
	s.Cluster.Platform, s.NamespaceUsers = render.OpenShift, policy.ParseUserRange("1000650000/10000")
	p := decide(t, s).Plans[0]
	require.Equal(t, plan.ActionBlocked, p.Action())
	require.Equal(t, meta.ReasonUserOutOfRange, p.Reason())

	s.Sidecar = logs().Build()
	require.Equal(t, plan.Inject, decide(t, s).Plans[0].Change)
}

// The operator detects another platform, such as OpenShift. Injected sidecars stay unchanged until their next change.
func TestDecide_AppliesDetectedPlatformWithNextChange(t *testing.T) {
	deployment := cart()
	s := snapshot(t, logs().Build(), deployment)
	s = carryOut(t, s, decide(t, s), deployment)
	s.Cluster.Platform, s.NamespaceUsers = render.OpenShift, policy.ParseUserRange("1000650000/10000")
	require.Equal(t, plan.None, decide(t, s).Plans[0].Change)

	s.Sidecar = logs().WithEnv("A", "b").Build()
	p := decide(t, s).Plans[0]
	require.Equal(t, plan.Update, p.Change, p.Message())
	require.Nil(t, p.Desired.Container("vector").SecurityContext.RunAsUser)
}
