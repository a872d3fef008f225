// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/controlplane"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

func TestRolloutCommandsFollowTheWaves(t *testing.T) {
	t.Parallel()
	plane, w := start(t, controlplane.Options{})
	home := w.Namespace(t)
	operator := objects.NewDeployment("operator", home).Labelled("app.kubernetes.io/component", "operator").Build()
	operator.Spec.Template.Spec.Containers[0].Args = []string{"--environments-configmap=values"}
	values := objects.NewConfigMap("values", home, desired.RolloutKey, "waves: [{name: canary, soak: 1h, environments: [staging]}]\nhalt: {}")
	w.Create(t, operator, values)
	rollout := func(arguments ...string) string {
		return string(runs(t, append(append([]string{"rollout"}, arguments...), "--kubeconfig", plane.Kubeconfig(), "--operator-namespace", home)...))
	}
	var first struct{ Revision string }
	require.NoError(t, json.Unmarshal([]byte(rollout("status", "-o", "json")), &first))
	require.Len(t, first.Revision, 10)

	namespace := w.Namespace(t)
	finished := metav1.NewTime(time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC))
	for name, is := range map[string]v1alpha1.RolloutStatus{
		"done":    {Wave: "canary", Revision: first.Revision, State: v1alpha1.RolloutSoaking, Finished: &finished},
		"failed":  {Wave: "canary", Revision: first.Revision, State: v1alpha1.RolloutProgressing, Failed: first.Revision, FailedWorkloads: 2},
		"waiting": {Wave: "rest", Revision: "before", State: v1alpha1.RolloutWaiting, Message: "wave canary is not done"},
	} {
		vs := objects.NewVectorSidecar(name, namespace).Selecting("logs", name).Build()
		w.Create(t, vs)
		before := vs.DeepCopy()
		vs.Status.Rollout = &is
		require.NoError(t, w.Client.Status().Patch(t.Context(), vs, client.MergeFrom(before)))
	}
	require.Equal(t, "revision "+first.Revision+`
WAVE     DONE                          PROGRESSING   WAITING   HALTED   FAILED WORKLOADS   SOAKS UNTIL
canary   1/2    ##########..........   1             0         0        2                  2026-11-23T13:00:00Z
rest     0/1    ....................   0             1         0        0                  -
`+namespace+`/failed: Progressing
`+namespace+`/waiting: Waiting: wave canary is not done
`, rollout("status"))

	w.Create(t, objects.NewDeployment("app", namespace).Labelled("logs", "waiting").Build())
	planned := runs(t, "plan", "-n", namespace, "--kubeconfig", plane.Kubeconfig(), "--operator-namespace", home)
	require.Contains(t, string(planned), "WaitingForWave", "a preview knows of it, too")

	annotation := func(key string) string {
		var now corev1.ConfigMap
		require.NoError(t, w.Client.Get(t.Context(), client.ObjectKeyFromObject(values), &now))
		return now.Annotations[key]
	}
	require.Equal(t, "configmap/values annotated: revision "+first.Revision+" goes on\n", rollout("promote", "canary"))
	require.Equal(t, first.Revision+"/canary", annotation(meta.AnnotationPromoteRollout))
	rollout("retry")
	require.NotEmpty(t, annotation(meta.AnnotationRetryRollout))
}
