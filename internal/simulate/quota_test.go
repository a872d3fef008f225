// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// quotasOf returns the forecasts of quotas for the rollout of a sidecar of 100m and other changes of a Deployment.
func quotasOf(change func(*appsv1.Deployment), created Objects, quotas ...corev1.ResourceQuota) []QuotaForecast {
	rollout := injects("cpu=1", "cpu=100m")
	for _, object := range []workload.Object{rollout.Before, rollout.After} {
		if deployment, ok := object.(*appsv1.Deployment); ok && change != nil {
			change(deployment)
		}
	}
	content, _ := workload.Read(rollout.Before)
	if rollout.Pods = int(content.Pods); content.Paused {
		rollout.Pods = 0
	}
	return NewForecast(&Change{Replacements: []Replacement{rollout}, Created: map[string]Objects{"shop": created}}, &Surroundings{Quotas: quotas}).Quotas
}

// During a rollout, new pods and a new ReplicaSet exist next to the old ones. If the quota has no room for them, the
// forecast says how many pods the API server rejects.
func TestQuotaForecast_CountsPodsAndReplicaSets(t *testing.T) {
	recreate := func(d *appsv1.Deployment) { d.Spec.Strategy.Type = appsv1.RecreateDeploymentStrategyType }
	for name, test := range map[string]struct {
		change  func(*appsv1.Deployment)
		limited corev1.ResourceQuota
		after   string
		peak    string
		rejects bool
	}{
		"a pod at a time":                     {nil, quota("pods=5", "pods=4"), "", "", false},
		"no room for it":                      {nil, quota("pods=4", "pods=4"), "4", "5", true},
		"no surge":                            {recreate, quota("pods=4", "pods=4"), "", "", false},
		"no surge, and the quota is exceeded": {recreate, quota("pods=3", "pods=4"), "4", "4", true},
		"room for a ReplicaSet":               {nil, quota("count/replicasets.apps=2", "count/replicasets.apps=1"), "2", "2", false},
		"no room for a ReplicaSet":            {nil, quota("count/replicasets.apps=1", "count/replicasets.apps=1"), "2", "2", true},
		"no pods, but a ReplicaSet":           {func(d *appsv1.Deployment) { d.Spec.Replicas = ptr.To[int32](0) }, quota("count/replicasets.apps=1 pods=0", "count/replicasets.apps=1 pods=0"), "2", "2", true},
		"paused":                              {func(d *appsv1.Deployment) { d.Spec.Paused = true }, quota("count/replicasets.apps=1", "count/replicasets.apps=1"), "", "", false},
		"the oldest ReplicaSet is deleted last": {func(d *appsv1.Deployment) {
			d.Spec.RevisionHistoryLimit = ptr.To[int32](2)
			d.Annotations = map[string]string{"deployment.kubernetes.io/revision": "7"}
		}, quota("count/replicasets.apps=3", "count/replicasets.apps=3"), "3", "4", true},
		"other objects": {nil, quota("count/jobs.batch=0 services=0 count/controllerrevisions.apps=0", ""), "", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			found := quotasOf(test.change, Objects{}, test.limited)

			if test.after == "" {
				require.Empty(t, found)
				return
			}
			require.Len(t, found, 1)
			require.Equal(t, test.after, found[0].After.String())
			require.Equal(t, test.peak, found[0].Peak.String())
			require.Equal(t, test.rejects, found[0].Rejects())
		})
	}
}

// A change returns to the pod template of an earlier ReplicaSet. The forecast counts no new ReplicaSet.
func TestQuotaForecast_ReusesReplicaSets(t *testing.T) {
	rollout := injects("cpu=1", "cpu=100m")
	rollout.Pods = 1
	limited := quota("count/replicasets.apps=2", "count/replicasets.apps=2")
	in := &Surroundings{Quotas: []corev1.ResourceQuota{limited}}
	before := NewForecast(&Change{Replacements: []Replacement{rollout}}, in).Quotas
	require.Len(t, before, 1)
	require.True(t, before[0].Rejects())

	owner := metav1.OwnerReference{Kind: "Deployment", Name: rollout.After.GetName(), Controller: ptr.To(true)}
	in.Revisions = []workload.Object{&appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: rollout.After.GetNamespace(), Name: "old", OwnerReferences: []metav1.OwnerReference{owner}},
		Spec:       appsv1.ReplicaSetSpec{Template: *workload.PodTemplate(rollout.After)},
	}}

	require.Empty(t, NewForecast(&Change{Replacements: []Replacement{rollout}}, in).Quotas)
}

// StatefulSets and DaemonSets need a new ControllerRevision for each pod template, and Jobs do not.
func TestQuotaForecast_CountsControllerRevisions(t *testing.T) {
	limited := quota("count/replicasets.apps=0 count/controllerrevisions.apps=1", "count/controllerrevisions.apps=1")
	for name, test := range map[string]struct {
		object  workload.Object
		rejects bool
	}{
		"StatefulSet": {&appsv1.StatefulSet{}, true},
		"DaemonSet":   {&appsv1.DaemonSet{}, true},
		"CronJob":     {&batchv1.CronJob{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			test.object.SetNamespace("shop")
			change := &Change{Replacements: []Replacement{{Before: test.object, After: test.object, Batch: 1}}}

			found := NewForecast(change, &Surroundings{Quotas: []corev1.ResourceQuota{limited}}).Quotas

			if !test.rejects {
				require.Empty(t, found)
				return
			}
			require.Len(t, found, 1)
			require.Equal(t, "ControllerRevisions", found[0].Objects())
			require.True(t, found[0].Rejects())
		})
	}
}

// Objects that the operator or the user creates count in the quota, also without a rollout.
func TestQuotaForecast_CountsCreatedObjects(t *testing.T) {
	change := &Change{Created: map[string]Objects{"shop": {ConfigMaps: 2, VectorSidecars: 1}}}
	for name, test := range map[string]struct {
		limited corev1.ResourceQuota
		objects string
		rejects bool
	}{
		"room":                 {quota("configmaps=3", "configmaps=1"), "ConfigMaps", false},
		"no room":              {quota("configmaps=2", "configmaps=1"), "ConfigMaps", true},
		"under the other name": {quota("count/configmaps=2", "count/configmaps=1"), "ConfigMaps", true},
		"VectorSidecars":       {quota("count/vectorsidecars.observability.kontroloop.ai=0", ""), "VectorSidecars", true},
		"Secrets":              {quota("secrets=0", ""), "", false},
	} {
		t.Run(name, func(t *testing.T) {
			found := NewForecast(change, &Surroundings{Quotas: []corev1.ResourceQuota{test.limited}}).Quotas

			if test.objects == "" {
				require.Empty(t, found)
				return
			}
			require.Len(t, found, 1)
			require.Equal(t, test.objects, found[0].Objects())
			require.Equal(t, test.rejects, found[0].Rejects())
		})
	}
}

// Each pod with an ephemeral volume needs a PersistentVolumeClaim, which counts in the quota.
func TestQuotaForecast_CountsClaimsOfVolumes(t *testing.T) {
	claims := func(d *appsv1.Deployment) {
		spec := corev1.PersistentVolumeClaimSpec{StorageClassName: ptr.To("fast"), Resources: corev1.VolumeResourceRequirements{Requests: listOf("storage=1Gi")}}
		d.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
			Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{Spec: spec}},
		}}}
	}
	for _, hard := range []string{"persistentvolumeclaims=4", "requests.storage=4Gi", "fast.storageclass.storage.k8s.io/requests.storage=4Gi", "count/persistentvolumeclaims=4"} {
		t.Run(hard, func(t *testing.T) {
			found := quotasOf(claims, Objects{}, quota(hard, hard))

			require.Len(t, found, 1)
			require.Equal(t, "PersistentVolumeClaims", found[0].Objects())
			require.True(t, found[0].Rejects())
		})
	}
}

// As in the API server, only additional use is compared with the quota, and a container without a required resource is
// rejected.
func TestQuotaForecast_PredictsAdmission(t *testing.T) {
	require.Empty(t, quotasOf(nil, Objects{}, quota("memory=0", "memory=1Gi", corev1.ResourceQuotaScopeTerminating)))
	found := quotasOf(func(d *appsv1.Deployment) {
		d.Spec.Template.Spec.Containers[0].Resources = corev1.ResourceRequirements{}
	}, Objects{}, quota("requests.cpu=9", "requests.cpu=1"))
	require.Equal(t, "app", found[0].Missing, "the application's pods of today are older than the quota")
	found = quotasOf(func(d *appsv1.Deployment) {
		d.Spec.Template.Spec.Resources = ptr.To(resourcesOf("cpu=1"))
	}, Objects{}, quota("limits.memory=9Gi", ""))
	require.Empty(t, found, "resources of the pod replace those of containers")
}

// A ResourceQuota in a file has no status, so its use is counted from the objects. For one in the cluster, the
// cluster's status is used.
func TestSurroundings_CountObjectsForQuotaOfFile(t *testing.T) {
	inFile := quota("pods=9 configmaps=2 count/replicasets.apps=3", "")
	inFile.Status = corev1.ResourceQuotaStatus{}
	rollout := injects("cpu=1", "cpu=100m")
	change := &Change{Replacements: []Replacement{rollout}, Created: map[string]Objects{"shop": {ConfigMaps: 1}}}
	in := &Surroundings{
		Workloads: []workload.Object{rollout.Before, objects.NewDeployment("other", "shop").WithReplicas(2).Build(), objects.NewDeployment("cart", "pay").Build()},
		Existing:  map[string]Objects{"shop": {ConfigMaps: 1}},
	}
	in.Add(&inFile)
	used := func(forecast *Forecast) map[corev1.ResourceName]string {
		numbers := map[corev1.ResourceName]string{}
		for _, found := range forecast.Quotas {
			numbers[found.Resource] = found.Used.String() + " of " + found.Hard.String()
		}
		return numbers
	}
	require.Equal(t, map[corev1.ResourceName]string{"configmaps": "1 of 2", "count/replicasets.apps": "2 of 3"}, used(NewForecast(change, in)))

	inCluster := quota("pods=99", "pods=7 configmaps=2 count/replicasets.apps=3")
	over := &Surroundings{Workloads: in.Workloads, Existing: in.Existing}
	over.Add(&inCluster)
	exported := *inFile.DeepCopy()
	exported.Status.Used = listOf("pods=1 configmaps=1 count/replicasets.apps=1")
	over.Add(&exported)
	require.Len(t, over.Quotas, 1)
	require.Equal(t, map[corev1.ResourceName]string{"configmaps": "2 of 2", "count/replicasets.apps": "3 of 3"}, used(NewForecast(change, over)))
}

// LimitRanges and autoscalers in files lack fields that the API server would set. These are added.
func TestSurroundings_CompleteObjectsOfFiles(t *testing.T) {
	in := &Surroundings{}
	in.Add(&corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "r"}, Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{
		{Type: corev1.LimitTypeContainer, Max: listOf("cpu=2"), Min: listOf("memory=1Mi")}, {Type: corev1.LimitTypePod, Max: listOf("cpu=2")},
	}}})
	in.Add(&autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cart"}})

	limits := in.LimitRanges[0].Spec.Limits
	require.Equal(t, listOf("cpu=2"), limits[0].Default)
	require.Equal(t, listOf("cpu=2 memory=1Mi"), limits[0].DefaultRequest)
	require.Empty(t, limits[1].Default)
	require.Equal(t, corev1.ResourceCPU, in.Autoscalers[0].Spec.Metrics[0].Resource.Name)
}
