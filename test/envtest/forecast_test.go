// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/cli"
	"kontroloop.ai/vector-sidecar-operator/internal/simulate"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// planned returns the output of the command plan for a namespace with a VectorSidecar.
func planned(t *testing.T, vs *v1alpha1.VectorSidecar, format string) (out, notes string) {
	t.Helper()
	vs.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("VectorSidecar"))
	text, err := yaml.Marshal(vs)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "sidecar.yaml")
	require.NoError(t, os.WriteFile(file, text, 0o600))
	var printed, rest bytes.Buffer
	streams := genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &printed, ErrOut: &rest}
	arguments := []string{"plan", "--kubeconfig", kubeconfig, "-n", vs.Namespace, "--sidecar", file, "-o", format}
	require.Zero(t, cli.Run(t.Context(), arguments, streams, cli.Builtin{Chart: vectorsidecar.FS, Definition: vectorsidecar.Definition}, "test"), "%s", &rest)
	return printed.String(), rest.String()
}

// The forecast of quota use equals the use that the quota controller of the API server counts after the rollout.
func TestForecast_EqualsUseInResourceQuota(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	hard := corev1.ResourceList{}
	for _, name := range []corev1.ResourceName{"cpu", "requests.memory", "limits.memory", "limits.cpu", "requests.ephemeral-storage", "pods"} {
		hard[name] = resource.MustParse("1000Gi")
	}
	all := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "all"}, Spec: corev1.ResourceQuotaSpec{Hard: hard}}
	burstable := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "burstable"}, Spec: corev1.ResourceQuotaSpec{
		Hard: corev1.ResourceList{"pods": resource.MustParse("100")}, Scopes: []corev1.ResourceQuotaScope{corev1.ResourceQuotaScopeNotBestEffort},
	}}
	default200 := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("200m")}
	limits := &corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "cpu"}, Spec: corev1.LimitRangeSpec{
		Limits: []corev1.LimitRangeItem{{Type: corev1.LimitTypeContainer, Default: default200}},
	}}
	deployment := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").WithReplicas(3).Build()
	deployment.Spec.Template.Spec.Containers[0].Resources.Limits = corev1.ResourceList{
		corev1.ResourceMemory: resource.MustParse("256Mi"), corev1.ResourceEphemeralStorage: resource.MustParse("1Gi"),
	}
	scaler := &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "cart"},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "cart"}, MinReplicas: ptr.To[int32](3), MaxReplicas: 3,
			Metrics: []autoscalingv2.MetricSpec{{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{
				Name: corev1.ResourceCPU, Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: ptr.To[int32](80)},
			}}},
		},
	}
	world.Create(t, all, burstable, limits, scaler)
	world.Create(t, deployment)
	harness.Until(t, world, deployment, "its first rollout", isRolledOut)
	counts := func(quota *corev1.ResourceQuota, pods int64) {
		t.Helper()
		harness.Until(t, world, quota, "its pods to be counted", func(q *corev1.ResourceQuota) bool {
			return ptr.To(q.Status.Used[corev1.ResourcePods]).Value() == pods
		})
	}
	counts(all, 3)
	counts(burstable, 3)
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").Sidecar(func(s *v1alpha1.SidecarSpec) {
		s.Resources = resources("50m")
	}).Build()

	var report struct{ Forecast simulate.Forecast }
	text, _ := planned(t, vs.DeepCopy(), "json")
	require.NoError(t, json.Unmarshal([]byte(text), &report))
	found := report.Forecast
	text, notes := planned(t, vs.DeepCopy(), "wide")
	require.Regexp(t, `all +limits.memory +1000Gi +768Mi +1536Mi +1152Mi +-`, text)
	require.Regexp(t, `cart +cart +cpu +200m +250m +the measured utilization of the application falls to 80 % of its current value`, text)
	require.Contains(t, notes, "type ContainerResource")

	world.Create(t, vs)
	harness.Until(t, world, vs, "readiness", isUpToDate)
	counts(all, 3)
	counts(burstable, 3)
	require.NotEmpty(t, found.Quotas)
	for _, one := range found.Quotas {
		quota := map[string]*corev1.ResourceQuota{"all": all, "burstable": burstable}[one.Name]
		harness.Until(t, world, quota, "the predicted usage of "+string(one.Resource)+": "+one.After.String(), func(q *corev1.ResourceQuota) bool {
			used := q.Status.Used[one.Resource]
			return used.Cmp(one.After) == 0
		})
		require.NotEqual(t, one.Used.String(), one.After.String())
		require.Positive(t, one.Peak.Cmp(one.After))
		t.Logf("%s %s: used %s, foretold %s, counted %s, meanwhile %s", one.Name, one.Resource, &one.Used, &one.After, ptr.To(quota.Status.Used[one.Resource]), &one.Peak)
	}
	require.Len(t, found.Autoscalers, 1)
	require.Equal(t, "200m", found.Autoscalers[0].Before.String())
	require.Equal(t, "250m", found.Autoscalers[0].After.String())
	require.Equal(t, []simulate.QoSForecast{{Kind: "Deployment", Workload: "cart", From: corev1.PodQOSGuaranteed, To: corev1.PodQOSBurstable}}, found.Namespaces[0].QoS)
	var pods corev1.PodList
	require.NoError(t, world.Client.List(t.Context(), &pods, client.InNamespace(namespace)))
	require.Len(t, pods.Items, 3)
	require.Equal(t, corev1.PodQOSBurstable, pods.Items[0].Status.QOSClass)
	require.Equal(t, "150m", ptr.To(found.Namespaces[0].Requests[corev1.ResourceCPU]).String())
}

// A quota limits the number of VectorSidecars. The plan predicts that the API server rejects one more.
func TestVectorSidecar_ExceedsQuotaInForecast(t *testing.T) {
	t.Parallel()
	const count corev1.ResourceName = "count/vectorsidecars.observability.kontroloop.ai"
	namespace := world.Namespace(t)
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "sidecars"}}
	quota.Spec.Hard = corev1.ResourceList{count: resource.MustParse("0")}
	world.Create(t, quota, objects.NewDeployment("cart", namespace).Labeled("logs", "vector").Build())
	harness.Until(t, world, quota, "the status", func(q *corev1.ResourceQuota) bool { return len(q.Status.Hard) > 0 })
	quota.Status.Used = quota.Spec.Hard // The quota controller finds new kinds late.
	require.NoError(t, world.Client.Status().Update(t.Context(), quota))
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").Build()

	text, _ := planned(t, vs.DeepCopy(), "wide")
	require.Regexp(t, `sidecars +`+string(count)+` +0 +0 +1 +1 +rejects VectorSidecars: the quota is too low`, text)
	require.ErrorContains(t, world.Client.Create(t.Context(), vs), "exceeded quota: sidecars")
}

// Pods get the QoS class of the forecast. With sidecar.qos Keep, Guaranteed pods stay Guaranteed.
func TestQoSMode_KeepsGuaranteedPods(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	limits := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("200m"), corev1.ResourceMemory: resource.MustParse("256Mi")}
	classes := map[string]corev1.PodQOSClass{"kept": corev1.PodQOSGuaranteed, "ignored": corev1.PodQOSBurstable}
	for name, class := range classes {
		deployment := objects.NewDeployment(name, namespace).Labeled("qos", name).Pod(func(pod *corev1.PodSpec) { pod.Containers[0].Resources.Limits = limits }).Build()
		vs := objects.NewVectorSidecar(name, namespace).Selecting("qos", name).InEnvironment("production").Build()
		if class != corev1.PodQOSGuaranteed {
			vs.Spec.Sidecar = &v1alpha1.SidecarSpec{QoS: "Ignore"}
		}
		world.Create(t, deployment)
		harness.Until(t, world, deployment, "its first rollout", isRolledOut)
		var report struct{ Forecast simulate.Forecast }
		text, _ := planned(t, vs.DeepCopy(), "json")
		require.NoError(t, json.Unmarshal([]byte(text), &report))
		require.Equal(t, class != corev1.PodQOSGuaranteed, len(report.Forecast.Namespaces[0].QoS) > 0)

		world.Create(t, vs)
		harness.Until(t, world, vs, "readiness", isUpToDate)
		var pods corev1.PodList
		require.NoError(t, world.Client.List(t.Context(), &pods, client.InNamespace(namespace)))
		found := 0
		for i := range pods.Items {
			if pod := &pods.Items[i]; len(pod.Spec.InitContainers) > 0 && pod.Labels["app"] == name {
				found++
				require.Equal(t, class, pod.Status.QOSClass, name)
			}
		}
		require.Positive(t, found)
	}
}

// The API server rejects exactly the pods that the forecast names, because of the quota or limit that it names.
func TestForecast_NamesRejectingQuota(t *testing.T) {
	t.Parallel()
	ratio := corev1.LimitRangeItem{Type: corev1.LimitTypeContainer, MaxLimitRequestRatio: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1")}}
	for name, test := range map[string]struct {
		hard    corev1.ResourceName
		bound   client.Object
		message string
	}{
		"pods":           {hard: "pods", message: "exceeded quota: bound"},
		"count-pods":     {hard: "count/pods", message: "exceeded quota: bound"},
		"replicasets":    {hard: "count/replicasets.apps", message: "exceeded quota: bound"},
		"configmaps":     {hard: "count/configmaps", message: "exceeded quota: bound"},
		"limit-ratio":    {bound: &corev1.LimitRange{Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{ratio}}}, message: "max limit to request ratio"},
		"enough-of-each": {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := world.Namespace(t)
			deployment := objects.NewDeployment("web", namespace).Labeled("logs", "vector").WithReplicas(2).WithEmptyDir("logs", "/var/log/app").Build()
			deployment.Spec.Template.Spec.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("256Mi")}
			world.Create(t, deployment)
			harness.Until(t, world, deployment, "its first rollout", isRolledOut)
			if test.hard != "" {
				quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "bound"}}
				quota.Spec.Hard = corev1.ResourceList{test.hard: resource.MustParse("1000")}
				world.Create(t, quota)
				harness.Until(t, world, quota, "the expected count", func(q *corev1.ResourceQuota) bool { _, isCounted := q.Status.Used[test.hard]; return isCounted })
				quota.Spec.Hard = corev1.ResourceList{test.hard: quota.Status.Used[test.hard]} // It is full.
				require.NoError(t, world.Client.Update(t.Context(), quota))
				harness.Until(t, world, quota, "its hard limit", func(q *corev1.ResourceQuota) bool { return q.Status.Hard[test.hard] == q.Spec.Hard[test.hard] })
			} else if test.bound != nil {
				test.bound.SetNamespace(namespace)
				test.bound.SetName("bound")
				world.Create(t, test.bound)
			}
			vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithLogs("/var/log/app").Sidecar(func(s *v1alpha1.SidecarSpec) {
				s.Resources = resources("50m")
			}).Build()

			var report struct{ Forecast simulate.Forecast }
			text, _ := planned(t, vs.DeepCopy(), "json")
			require.NoError(t, json.Unmarshal([]byte(text), &report))
			rejecting := map[string]bool{}
			for i := range report.Forecast.Quotas {
				if report.Forecast.Quotas[i].Rejects() {
					rejecting[report.Forecast.Quotas[i].Name] = true
				}
			}
			for _, limit := range report.Forecast.Limits {
				rejecting[limit.Name] = true
			}
			require.Equal(t, test.message != "", rejecting["bound"], text)

			world.Create(t, vs)
			if test.message == "" {
				harness.Until(t, world, vs, "readiness", isUpToDate)
				return
			}
			harness.Until(t, world, deployment, "its rejection: "+test.message, func(d *appsv1.Deployment) bool {
				world.Get(t, vs)
				text, err := json.Marshal([]any{d.Status, vs.Status})
				return err == nil && strings.Contains(string(text), test.message)
			})
		})
	}
}

// A removal, and the injection after it, return to existing revisions. The forecast counts no new ones, and a full
// quota of revisions rejects neither.
func TestForecast_ReusesOldReplicaSets(t *testing.T) {
	t.Parallel()
	for kind, counted := range map[string]corev1.ResourceName{"Deployment": "count/replicasets.apps", "StatefulSet": "count/controllerrevisions.apps"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			namespace := world.Namespace(t)
			object, ok := objects.NewWorkload(kind, "web", namespace, map[string]string{"logs": "vector"}).(workload.Object)
			require.True(t, ok)
			isSettled := func(hasSidecar bool) func(workload.Object) bool {
				return func(o workload.Object) bool {
					content, _ := workload.Read(o)
					spec := &workload.PodTemplate(o).Spec
					return content.Rollout == workload.RolloutComplete && (len(spec.InitContainers)+len(spec.Containers) > 1) == hasSidecar
				}
			}
			world.Create(t, object)
			harness.Until(t, world, object, "its first rollout", isSettled(false))
			vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").For("Deployment", "StatefulSet").Build()
			world.Create(t, vs)
			harness.Until(t, world, object, "the sidecar", isSettled(true))
			quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "bound"}, Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{counted: resource.MustParse("2")}}}
			world.Create(t, quota)
			harness.Until(t, world, quota, "a full quota", func(q *corev1.ResourceQuota) bool { return ptr.To(q.Status.Used[counted]).Value() == 2 })

			for _, enabled := range []bool{false, true} {
				changed := vs.DeepCopy()
				changed.Spec.Enabled = ptr.To(enabled)
				var report struct {
					Restarts int
					Forecast simulate.Forecast
				}
				text, _ := planned(t, changed, "json")
				require.NoError(t, json.Unmarshal([]byte(text), &report))
				require.Positive(t, report.Restarts, text)
				require.Empty(t, report.Forecast.Quotas, text)

				harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Enabled = ptr.To(enabled) })
				harness.Until(t, world, object, "its change", isSettled(enabled))
				world.Get(t, quota)
				require.EqualValues(t, 2, ptr.To(quota.Status.Used[counted]).Value())
			}
		})
	}
}
