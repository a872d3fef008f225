// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package product

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/test/node"
)

// counted is what the collector tells of one writer.
type counted struct{ Wrote, Lost, Twice, Came int }

// An application that writes until its end, some lines at once in the last moment, loses
// none of them when its pods go. Without a real Vector this says in which order things end.
func testNoLineIsLost(t *testing.T) {
	for name, replace := range map[string]func(t *testing.T, app *appsv1.Deployment){
		"rollout": func(t *testing.T, app *appsv1.Deployment) {
			run(t, "kubectl", "rollout", "restart", "deployment/"+app.Name, "--namespace="+app.Namespace)
			run(t, "kubectl", "rollout", "status", "deployment/"+app.Name, "--namespace="+app.Namespace)
		},
		"pod deleted": func(t *testing.T, app *appsv1.Deployment) {
			require.NoError(t, cluster.Delete(t.Context(), &podsOf(t, app.Name, app.Namespace)[0]))
		},
		"scale down": func(t *testing.T, app *appsv1.Deployment) { scale(t, app, 1) },
	} {
		for _, native := range []v1alpha1.NativeMode{"Always", "Never"} {
			t.Run(fmt.Sprintf("%s, native %s", name, native), func(t *testing.T) {
				t.Parallel()
				all := delivered(t, native, replace)
				var lost, twice, wrote int
				for _, each := range all {
					lost, twice, wrote = lost+each.Lost, twice+each.Twice, wrote+each.Wrote
				}
				t.Logf("%s: of %d lines of %d pods %d are lost, and %d came twice", shipper(), wrote, len(all), lost, twice)
				require.Zero(t, lost)
			})
		}
	}
}

// shipper is what the figures are of.
func shipper() string {
	if vector == "" {
		return "the stand-in"
	}
	return "Vector"
}

// delivered does something with an application that is collected from, ends it, and returns
// what the collector has of its pods.
func delivered(t *testing.T, native v1alpha1.NativeMode, replace func(*testing.T, *appsv1.Deployment)) map[string]counted {
	t.Helper()
	space := restricted(t)
	collector := collectorIn(t, space)
	uri, err := json.Marshal(map[string]string{"type": "http", "uri": fmt.Sprintf("http://collector.%s.svc:8080/lines", space)})
	require.NoError(t, err)
	app := writer("app", space, "--rate=200", "--collector=http://collector:8080").WithReplicas(2).Build()
	world.Create(t, app, collecting(space).Sidecar(func(s *v1alpha1.SidecarSpec) {
		s.Native, s.Sinks = native, map[string]apiextensionsv1.JSON{"collector": {Raw: uri}}
	}).Build())
	running(t, app, true)
	injected := map[string]bool{} // Pods of before wrote for nobody.
	note := func() {
		for _, pod := range podsOf(t, app.Name, space) {
			injected[pod.Name] = true
		}
	}
	note()
	eventually(t, "lines of every pod", func() bool {
		came := report(t, collector)
		for name := range injected {
			if came[name].Came == 0 {
				return false
			}
		}
		return true
	})
	replace(t, app)
	require.NoError(t, cluster.Get(t.Context(), client.ObjectKeyFromObject(app), app))
	running(t, app, true)
	note()
	scale(t, app, 0)
	eventually(t, "all pods to be gone", func() bool {
		var pods corev1.PodList
		require.NoError(t, cluster.List(t.Context(), &pods, client.InNamespace(space), client.MatchingLabels{"app": app.Name}))
		return len(pods.Items) == 0
	})
	all := report(t, collector)
	found := map[string]counted{}
	for name := range injected {
		require.NotZero(t, all[name].Wrote, "%s has not told how much it wrote", name)
		found[name] = all[name]
	}
	return found
}

func scale(t *testing.T, app *appsv1.Deployment, replicas int32) {
	t.Helper()
	patch := client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"spec": {"replicas": %d}}`, replicas))
	require.NoError(t, cluster.Patch(t.Context(), app.DeepCopy(), patch))
	app.Spec.Replicas = ptr.To(replicas)
}

// collectorIn runs a collector behind a Service, and returns its address.
func collectorIn(t *testing.T, space string) string {
	t.Helper()
	collector := writer("collector", space).Pod(func(pod *corev1.PodSpec) {
		pod.Containers[0].Args = []string{"collect"}
		pod.Containers[0].Image = node.Programs
		probe := corev1.HTTPGetAction{Path: "/report", Port: intstr.FromInt32(8080)}
		pod.Containers[0].ReadinessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &probe}, PeriodSeconds: 1}
	}).Build()
	collector.Labels = nil
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "collector", Namespace: space}}
	service.Spec.Selector, service.Spec.Ports = map[string]string{"app": "collector"}, []corev1.ServicePort{{Port: 8080}}
	world.Create(t, collector, service)
	return "http://" + running(t, collector, false).Status.PodIP + ":8080"
}

func report(t *testing.T, collector string) map[string]counted {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, collector+"/report", nil)
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	found := map[string]counted{}
	require.NoError(t, json.NewDecoder(response.Body).Decode(&found))
	return found
}
