// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/controlplane"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// testCheckReportsTheFleet runs check and rollout status on a healthy installation whose fleet gets into several
// states. The exit code is 1 if a user must act, and 0 if writes are stopped.
func testCheckReportsTheFleet(t *testing.T, plane *controlplane.ControlPlane, w *harness.World) {
	home, namespace := w.Namespace(t), w.Namespace(t)
	operator := objects.NewDeployment("operator", home).Labeled("app.kubernetes.io/component", "operator").Build()
	operator.Spec.Template.Spec.Containers[0].Args = []string{"--environments-configmap=values", "--read-pods"}
	operator.Spec.Template.Spec.ServiceAccountName = "operator"
	values := objects.NewConfigMap("values", home, desired.RolloutKey, "waves: [{name: canary, environments: [staging]}]\nhalt: {}")
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: home}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: home, Name: "operator"}},
	}
	w.Create(t, operator, binding)
	w.SetValues(t, values)
	t.Cleanup(func() { remove(t, w, []client.Object{binding}) })
	available := operator.DeepCopy()
	available.Status.Replicas, available.Status.ReadyReplicas, available.Status.AvailableReplicas = 1, 1, 1
	require.NoError(t, w.Client.Status().Patch(t.Context(), available, client.MergeFrom(operator)))

	now := time.Now().UTC().Truncate(time.Second)
	ago := func(hours int) *metav1.Time { return &metav1.Time{Time: now.Add(-time.Duration(hours) * time.Hour)} }
	const revision = "0123456789"
	loaded := fleet.PartStatus{State: fleet.PartLoaded}
	healthy := fleet.Publication{Revision: revision, Since: *ago(9), Policy: loaded, Rollout: loaded, RolloutText: values.Data[desired.RolloutKey]}
	publish := func(publication fleet.Publication) {
		record := publication.ConfigMap(client.ObjectKeyFromObject(values))
		require.NoError(t, client.IgnoreNotFound(w.Client.Delete(t.Context(), record)))
		w.Create(t, record)
	}
	report := func(name string, is v1alpha1.RolloutStatus) {
		vs := &v1alpha1.VectorSidecar{}
		require.NoError(t, w.Client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, vs))
		was := vs.DeepCopy()
		vs.Status.Rollout = &is
		require.NoError(t, w.Client.Status().Patch(t.Context(), vs, client.MergeFrom(was)))
	}
	for _, name := range []string{"first", "second"} {
		w.Create(t, objects.NewVectorSidecar(name, namespace).Selecting("logs", name).Build())
	}
	finished := func(started, finished int) v1alpha1.RolloutStatus {
		return v1alpha1.RolloutStatus{Wave: "canary", Revision: revision, State: v1alpha1.RolloutComplete, StartTime: ago(started), CompletionTime: ago(finished)}
	}
	complete := finished(9, 8)
	progressing := func(started *metav1.Time) v1alpha1.RolloutStatus {
		return v1alpha1.RolloutStatus{Wave: "canary", Revision: revision, State: v1alpha1.RolloutProgressing, StartTime: started}
	}
	check := func(t *testing.T, code int) []string {
		t.Helper()
		return strings.Split(string(exits(t, code, "check", "--kubeconfig", plane.Kubeconfig(), "--operator-namespace", home)), "\n")
	}
	firstLine := func(t *testing.T) string {
		t.Helper()
		out := string(runs(t, "rollout", "status", "--kubeconfig", plane.Kubeconfig(), "--operator-namespace", home))
		line, _, _ := strings.Cut(out, "\n")
		return line
	}
	brokenSet := fleet.PartStatus{Name: "own", State: fleet.PartLastKnownGood, Message: "_x.tpl:1: defined twice"}
	brokenPolicy := fleet.PartStatus{State: fleet.PartBroken, Message: "policy: unknown key"}

	for _, test := range []struct {
		name    string
		publish func(*fleet.Publication)
		first   v1alpha1.RolloutStatus
		second  v1alpha1.RolloutStatus
		stop    string
		code    int
		line    string
		status  string
	}{
		{name: "healthy", code: 0, line: "ok      rollout of the published revision: revision " + revision + " neither halted nor stuck"},
		{name: "writes stopped", stop: ago(2).UTC().Format(time.RFC3339), code: 0,
			line: "warning writes: all writes except removals are stopped since " + ago(2).UTC().Format(time.RFC3339), status: "; all writes except removals are stopped since "},
		{name: "revision halted", second: v1alpha1.RolloutStatus{Wave: "canary", Revision: revision, State: v1alpha1.RolloutHalted, StartTime: ago(1), FailedRevision: revision, FailedWorkloads: 2}, code: 1,
			line: "failed  rollout of the published revision: revision " + revision + " halted: 2 workloads failed", status: "; revision " + revision + " halted: 2 workloads failed"},
		{name: "template set broken", publish: func(p *fleet.Publication) { p.TemplateSets = []fleet.PartStatus{brokenSet} }, code: 1,
			line: `failed  published templates and values: template set "own" cannot be loaded; its last known good version is in use: _x.tpl:1: defined twice`, status: `; template set "own" broken`},
		{name: "policy broken", publish: func(p *fleet.Publication) { p.Policy = brokenPolicy }, code: 1,
			line: "failed  published templates and values: policy cannot be loaded, and no earlier version is in use: policy: unknown key", status: "; policy broken"},
		{name: "wave in progress", second: progressing(ago(5)), code: 0, line: "ok      rollout of the published revision: revision " + revision + " neither halted nor stuck"},
		{name: "wave stuck in one VectorSidecar", second: progressing(ago(7)), code: 1,
			line: "failed  rollout of the published revision: waves stuck: wave canary in progress since " + ago(7).UTC().Format(time.RFC3339) + " (unfinished: " + namespace + "/second)", status: "; waves stuck: wave canary in progress since "},
		{name: "wave stuck in one VectorSidecar after another", first: finished(9, 4), second: progressing(ago(5)), code: 1,
			line: "failed  rollout of the published revision: waves stuck: wave canary in progress since " + ago(9).UTC().Format(time.RFC3339) + " (unfinished: " + namespace + "/second)", status: "; waves stuck: wave canary in progress since "},
		{name: "wave stuck before a workload started", second: progressing(nil), code: 1,
			line: "failed  rollout of the published revision: waves stuck: wave canary in progress since " + ago(9).UTC().Format(time.RFC3339) + " (unfinished: " + namespace + "/second)", status: "; waves stuck: wave canary in progress since "},
	} {
		t.Run(test.name, func(t *testing.T) {
			publication := healthy
			if test.publish != nil {
				test.publish(&publication)
			}
			publish(publication)
			for name, is := range map[string]v1alpha1.RolloutStatus{"first": test.first, "second": test.second} {
				if is.Wave == "" {
					is = complete
				}
				report(name, is)
			}
			harness.Change(t, w, values, func(c *corev1.ConfigMap) {
				delete(c.Annotations, meta.AnnotationStopWrites)
				if test.stop != "" {
					c.Annotations = map[string]string{meta.AnnotationStopWrites: test.stop}
				}
			})

			lines := check(t, test.code)

			isExpected := false
			for _, line := range lines {
				isExpected = isExpected || strings.HasPrefix(line, test.line)
				if strings.HasPrefix(line, "failed") {
					require.True(t, strings.HasPrefix(line, test.line), "only the fleet fails: %s", line)
				}
			}
			require.True(t, isExpected, "%s\n%s", test.line, strings.Join(lines, "\n"))
			require.Contains(t, firstLine(t), test.status)
		})
	}
}
