// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// listOf reads resources such as "cpu=100m memory=1Gi".
func listOf(text string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for _, field := range strings.Fields(text) {
		name, quantity, _ := strings.Cut(field, "=")
		list[corev1.ResourceName(name)] = resource.MustParse(quantity)
	}
	if len(list) == 0 {
		return nil
	}
	return list
}

// resourcesOf reads "REQUESTS / LIMITS".
func resourcesOf(text string) corev1.ResourceRequirements {
	requests, limits, _ := strings.Cut(text, "/")
	return corev1.ResourceRequirements{Requests: listOf(requests), Limits: listOf(limits)}
}

// injects is a Deployment cart of four pods, whose application has some resources, that gets a
// sidecar with others.
func injects(app, vector string) Replacement {
	before := objects.NewDeployment("cart", "shop").WithReplicas(4).Build()
	before.Spec.Template.Spec.Containers[0].Resources = resourcesOf(app)
	after := before.DeepCopy()
	after.Spec.Template.Spec.InitContainers = append(after.Spec.Template.Spec.InitContainers, corev1.Container{
		Name: "vector", RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways), Resources: resourcesOf(vector),
	})
	return Replacement{Before: before, After: after, Pods: 4, Batch: 1}
}

// quota has some hard limits and uses.
func quota(hard, used string, scopes ...corev1.ResourceQuotaScope) corev1.ResourceQuota {
	return corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "compute"},
		Spec:       corev1.ResourceQuotaSpec{Hard: listOf(hard), Scopes: scopes},
		Status:     corev1.ResourceQuotaStatus{Hard: listOf(hard), Used: listOf(used)},
	}
}

// The forecast adds up the resource requests that the sidecars add to each namespace. A removal subtracts them.
func TestForecast_AddsRequestsOfNewPods(t *testing.T) {
	other := injects("cpu=1", "cpu=50m memory=32Mi")
	other.Before.SetName("checkout")
	removed := injects("cpu=1", "cpu=100m")
	removed.Before, removed.After, removed.Pods = removed.After, removed.Before, 2
	removed.Before.SetNamespace("pay")

	found := NewForecast(&Change{Replacements: []Replacement{injects("", "cpu=100m memory=64Mi / memory=128Mi"), other, removed}}, &Surroundings{})

	require.Len(t, found.Namespaces, 2)
	pay, shop := found.Namespaces[0], found.Namespaces[1]
	require.Equal(t, "-200m", ptr.To(pay.Requests[corev1.ResourceCPU]).String())
	require.Empty(t, pay.QoS)
	require.Equal(t, 8, shop.Pods)
	require.Equal(t, "600m", ptr.To(shop.Requests[corev1.ResourceCPU]).String())
	require.Equal(t, "384Mi", ptr.To(shop.Requests[corev1.ResourceMemory]).String())
	require.Equal(t, []QoSForecast{{"Deployment", "cart", corev1.PodQOSBestEffort, corev1.PodQOSBurstable}}, shop.QoS)
	require.Empty(t, found.Quotas)
	require.Empty(t, found.Autoscalers)
}

func TestQuotaForecast_DetectsExceededQuota(t *testing.T) {
	for name, test := range map[string]struct {
		change  Replacement
		quota   corev1.ResourceQuota
		ranges  []corev1.LimitRange
		used    string
		peak    string
		missing string
		rejects bool
	}{
		"there is room":               {injects("cpu=1", "cpu=100m"), quota("cpu=10", "cpu=4"), nil, "4400m", "5500m", "", false},
		"not while it rolls out":      {injects("cpu=1", "cpu=100m"), quota("requests.cpu=5", "requests.cpu=4"), nil, "4400m", "5500m", "", true},
		"nor after it":                {injects("cpu=1", "cpu=100m"), quota("requests.cpu=4", "requests.cpu=4"), nil, "4400m", "5500m", "", true},
		"a limit is a request":        {injects("cpu=1", "/cpu=100m"), quota("requests.cpu=10", "requests.cpu=4"), nil, "4400m", "5500m", "", false},
		"it has no limit":             {injects("/cpu=1", "cpu=100m"), quota("limits.cpu=10", "limits.cpu=4"), nil, "4", "5", "vector", true},
		"a LimitRange gives one":      {injects("/cpu=1", "cpu=100m"), quota("limits.cpu=10", "limits.cpu=4"), givesLimit("200m"), "4800m", "6", "", false},
		"it is not for such pods":     {injects("cpu=1", "cpu=100m"), quota("cpu=1", "cpu=0", corev1.ResourceQuotaScopeTerminating), nil, "", "", "", false},
		"it becomes one for such":     {injects("", "cpu=100m"), quota("pods=5", "pods=0", corev1.ResourceQuotaScopeNotBestEffort), nil, "4", "5", "", false},
		"no room for a pod beside":    {injects("cpu=1", "cpu=100m"), quota("pods=4", "pods=4"), nil, "4", "5", "", true},
		"as count/pods":               {injects("cpu=1", "cpu=100m"), quota("count/pods=4", "count/pods=4"), nil, "4", "5", "", true},
		"nor for a ReplicaSet":        {injects("cpu=1", "cpu=100m"), quota("count/replicasets.apps=1", "count/replicasets.apps=1"), nil, "2", "2", "", true},
		"an extended resource":        {injects("nic=1", "nic=1"), quota("requests.nic=8", "requests.nic=4"), nil, "8", "10", "", true},
		"it is not for such any more": {injects("", "cpu=100m"), quota("pods=5", "pods=4", corev1.ResourceQuotaScopeBestEffort), nil, "0", "4", "", false},
		"it counts something else":    {injects("cpu=1", "cpu=100m"), quota("services=1", "services=1"), nil, "", "", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			found := NewForecast(&Change{Replacements: []Replacement{test.change}}, &Surroundings{Quotas: []corev1.ResourceQuota{test.quota}, LimitRanges: test.ranges}).Quotas

			if test.used == "" {
				require.Empty(t, found)
				return
			}
			require.Len(t, found, 1)
			require.Equal(t, test.used, found[0].After.String())
			require.Equal(t, test.peak, found[0].Peak.String())
			require.Equal(t, test.missing, found[0].Missing)
			require.Equal(t, test.rejects, found[0].Rejects())
		})
	}
}

// givesLimit is a LimitRange with a limit for containers that have none.
func givesLimit(cpu string) []corev1.LimitRange {
	limit := corev1.LimitRangeItem{Type: corev1.LimitTypeContainer, Default: listOf("cpu=" + cpu), DefaultRequest: listOf("cpu=" + cpu)}
	return []corev1.LimitRange{{ObjectMeta: metav1.ObjectMeta{Namespace: "shop"}, Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{limit}}}}
}

// A quota with a scope of priority classes counts only pods of these classes.
func TestQuotaForecast_AppliesPriorityScope(t *testing.T) {
	for name, test := range map[string]struct {
		operator corev1.ScopeSelectorOperator
		values   []string
		counts   bool
	}{
		"theirs":      {corev1.ScopeSelectorOpIn, []string{"high"}, true},
		"another":     {corev1.ScopeSelectorOpIn, []string{"low"}, false},
		"not theirs":  {corev1.ScopeSelectorOpNotIn, []string{"high"}, false},
		"not another": {corev1.ScopeSelectorOpNotIn, []string{"low"}, true},
		"any":         {corev1.ScopeSelectorOpExists, nil, true},
		"none":        {corev1.ScopeSelectorOpDoesNotExist, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			change, limited := injects("cpu=1", "cpu=100m"), quota("cpu=10", "cpu=4")
			workload.PodTemplate(change.Before).Spec.PriorityClassName, workload.PodTemplate(change.After).Spec.PriorityClassName = "high", "high"
			limited.Spec.ScopeSelector = &corev1.ScopeSelector{MatchExpressions: []corev1.ScopedResourceSelectorRequirement{{
				ScopeName: corev1.ResourceQuotaScopePriorityClass, Operator: test.operator, Values: test.values,
			}}}
			require.Equal(t, test.counts, len(NewForecast(&Change{Replacements: []Replacement{change}}, &Surroundings{Quotas: []corev1.ResourceQuota{limited}}).Quotas) == 1)
		})
	}
}

// The sidecar adds requests to the pods of a HorizontalPodAutoscaler, so the same load is a lower utilization.
func TestAutoscalerForecast_AdjustsUtilization(t *testing.T) {
	scaler := autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cart"},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{Kind: "Deployment", Name: "cart"},
			Metrics: []autoscalingv2.MetricSpec{
				{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{Name: "cpu", Target: autoscalingv2.MetricTarget{AverageUtilization: ptr.To[int32](80)}}},
				{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{Name: "memory", Target: autoscalingv2.MetricTarget{AverageValue: ptr.To(resource.MustParse("1Gi"))}}},
				{Type: autoscalingv2.ContainerResourceMetricSourceType, ContainerResource: &autoscalingv2.ContainerResourceMetricSource{Name: "cpu", Container: "app"}},
			},
		},
	}
	other := *scaler.DeepCopy()
	other.Name, other.Spec.ScaleTargetRef.Name = "other", "other"
	of := func(change Replacement) []AutoscalerForecast {
		return NewForecast(&Change{Replacements: []Replacement{change}}, &Surroundings{Autoscalers: []autoscalingv2.HorizontalPodAutoscaler{other, scaler}}).Autoscalers
	}
	require.Equal(t, []AutoscalerForecast{{
		Namespace: "shop", Name: "cart", Kind: "Deployment", Workload: "cart", Resource: "cpu", Before: resource.MustParse("500m"), After: resource.MustParse("600m"),
	}}, normalized(of(injects("cpu=500m", "cpu=100m"))))
	require.Equal(t, "vector", of(injects("cpu=500m", "memory=1Gi"))[0].Missing)
	require.Empty(t, of(injects("memory=1Gi", "memory=1Gi")), "it could not scale before")
	whole := injects("cpu=500m", "cpu=100m")
	for _, object := range []workload.Object{whole.Before, whole.After} {
		workload.PodTemplate(object).Spec.Resources = ptr.To(resourcesOf("cpu=1"))
	}
	require.Empty(t, of(whole), "the pod as a whole requests as much as before")
}

// normalized has quantities as they are read from a text.
func normalized(found []AutoscalerForecast) []AutoscalerForecast {
	for i := range found {
		found[i].Before, found[i].After = resource.MustParse(found[i].Before.String()), resource.MustParse(found[i].After.String())
	}
	return found
}

// The duration depends on the replicas, the update strategy and minReadySeconds.
func TestRolloutDuration_DependsOnStrategy(t *testing.T) {
	of := func(count int32, change func(*appsv1.Deployment)) workload.Object {
		deployment := objects.NewDeployment("cart", "shop").WithReplicas(count).Build()
		change(deployment)
		return deployment
	}
	text := func(value string) *intstr.IntOrString { return ptr.To(intstr.Parse(value)) }
	rolling := func(surge, unavailable string) func(*appsv1.Deployment) {
		return func(d *appsv1.Deployment) {
			d.Spec.Strategy.RollingUpdate = &appsv1.RollingUpdateDeployment{MaxSurge: text(surge), MaxUnavailable: text(unavailable)}
		}
	}
	stateful := &appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{Replicas: ptr.To[int32](3), MinReadySeconds: 5}}
	daemons := &appsv1.DaemonSet{Status: appsv1.DaemonSetStatus{DesiredNumberScheduled: 10}}
	for name, test := range map[string]struct {
		object workload.Object
		want   time.Duration
		surge  int
	}{
		"one at a time":              {of(4, rolling("1", "0")), 40 * time.Second, 1},
		"by default, eight":          {of(8, func(*appsv1.Deployment) {}), 20 * time.Second, 2},
		"all at once":                {of(4, rolling("100%", "0")), 10 * time.Second, 4},
		"and each watched":           {of(4, func(d *appsv1.Deployment) { rolling("1", "1")(d); d.Spec.MinReadySeconds = 20 }), 60 * time.Second, 1},
		"down and up":                {of(9, func(d *appsv1.Deployment) { d.Spec.Strategy.Type = appsv1.RecreateDeploymentStrategyType }), 10 * time.Second, 0},
		"nothing":                    {of(0, func(*appsv1.Deployment) {}), 0, 0},
		"a StatefulSet":              {stateful, 45 * time.Second, 0},
		"a DaemonSet":                {daemons, 100 * time.Second, 0},
		"a CronJob, at its next run": {&batchv1.CronJob{}, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.want, RolloutDuration(test.object, 10*time.Second))
			require.Equal(t, test.surge, surgePods(test.object))
		})
	}
}
