// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// table names a second key and a binary key of the ConfigMap.
const table = "enrichment_tables:\n" +
	"  teams: {type: file, file: {path: /etc/vector/teams.csv, encoding: {type: csv}}}\n" +
	"  geo: {type: geoip, path: /etc/vector/geo.mmdb}\n"

// shipping creates a VectorSidecar with a referenced ConfigMap, and waits until it is up to date.
func shipping(t *testing.T, reload v1alpha1.ReloadMode) (*corev1.ConfigMap, *appsv1.Deployment, *v1alpha1.VectorSidecar) {
	t.Helper()
	namespace := world.Namespace(t)
	config := objects.NewConfigMap("shipping", namespace, "vector.yaml", objects.VectorConfig("first")+table)
	config.Data["teams.csv"], config.Data["notes.txt"] = "service,team\ncart,checkout\n", "one"
	config.BinaryData = map[string][]byte{"geo.mmdb": {0xff, 0x00}}
	deployment := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").Build()
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithConfigMap("shipping", "").
		Sidecar(func(s *v1alpha1.SidecarSpec) { s.Reload = reload }).Build()
	world.Create(t, config, deployment, vs)
	harness.Until(t, world, vs, "readiness", isUpToDate)
	world.Get(t, deployment)
	return config, deployment, vs
}

// mounted returns the only companion that the pods of a Deployment mount.
func mounted(t *testing.T, deployment *appsv1.Deployment) *corev1.ConfigMap {
	t.Helper()
	world.Get(t, deployment)
	names := volumeConfigMaps(deployment)
	require.Len(t, names, 1)
	made := &corev1.ConfigMap{}
	require.NoError(t, world.Client.Get(t.Context(), client.ObjectKey{Namespace: deployment.Namespace, Name: names[0]}, made))
	require.Equal(t, meta.LabelValue("logs"), made.Labels[meta.LabelSidecar])
	return made
}

func isNotValid(reason string) func(*v1alpha1.VectorSidecar) bool {
	return func(vs *v1alpha1.VectorSidecar) bool {
		return strings.HasPrefix(message(vs, meta.ConditionConfigValid), reason+": ")
	}
}

// If the referenced ConfigMap becomes invalid or is deleted, new pods start with the last valid content.
func TestWriteCompanion_KeepsLastValidConfigForNewPods(t *testing.T) {
	t.Parallel()
	for _, reload := range []v1alpha1.ReloadMode{v1alpha1.ReloadRestart, v1alpha1.ReloadLive} {
		t.Run(string(reload), func(t *testing.T) {
			t.Parallel()
			config, deployment, vs := shipping(t, reload)
			good := mounted(t, deployment)
			require.NotEqual(t, config.Name, good.Name)
			require.Equal(t, reload == v1alpha1.ReloadRestart, *good.Immutable)
			require.Empty(t, good.OwnerReferences)
			require.Empty(t, good.Finalizers)
			require.Equal(t, map[string]string{"vector.yaml": config.Data["vector.yaml"], "teams.csv": config.Data["teams.csv"]}, good.Data)
			require.Equal(t, config.BinaryData, good.BinaryData)

			harness.Change(t, world, config, func(c *corev1.ConfigMap) { c.Data["vector.yaml"] = "sources: {}" })
			harness.Until(t, world, vs, "the finding", isNotValid(meta.ReasonInvalidConfig))
			harness.Change(t, world, deployment, func(d *appsv1.Deployment) { d.Spec.Replicas = ptr.To[int32](3) })
			harness.Until(t, world, deployment, "more pods", isRolledOut)
			require.Equal(t, good.ResourceVersion, mounted(t, deployment).ResourceVersion)

			require.NoError(t, world.Client.Delete(t.Context(), config))
			harness.Until(t, world, vs, "the finding", isNotValid(meta.ReasonConfigMapNotFound))
			require.Equal(t, good.ResourceVersion, mounted(t, deployment).ResourceVersion)
			require.Equal(t, 1, replicaSetsWithSidecar(t, vs.Namespace))

			config.ResourceVersion, config.UID = "", ""
			config.Data["vector.yaml"] = objects.VectorConfig("second")
			world.Create(t, config)
			harness.Until(t, world, vs, "readiness", func(vs *v1alpha1.VectorSidecar) bool {
				return isUpToDate(vs) && condition(vs, meta.ConditionConfigValid) == "True"
			})
			require.Equal(t, map[string]string{"vector.yaml": objects.VectorConfig("second")}, mounted(t, deployment).Data)
		})
	}
}

// Changes of keys that the sidecar does not need cause no writes.
func TestWriteCompanion_IgnoresUnrelatedKeys(t *testing.T) {
	t.Parallel()
	config, deployment, vs := shipping(t, v1alpha1.ReloadRestart)
	before, good := deployment.ResourceVersion, mounted(t, deployment)

	for _, text := range []string{"two", "three"} {
		harness.Change(t, world, config, func(c *corev1.ConfigMap) { c.Data["notes.txt"] = text })
	}
	// The operator reports this change, so it has processed the earlier ones.
	bad := config.Data["vector.yaml"]
	harness.Change(t, world, config, func(c *corev1.ConfigMap) { c.Data["vector.yaml"] = "sources: {}" })
	harness.Until(t, world, vs, "the finding", isNotValid(meta.ReasonInvalidConfig))
	harness.Change(t, world, config, func(c *corev1.ConfigMap) { c.Data["vector.yaml"], c.Data["notes.txt"] = bad, "four" })
	harness.Until(t, world, vs, "readiness", isUpToDate)

	world.Get(t, deployment)
	require.Equal(t, before, deployment.ResourceVersion)
	require.Equal(t, good.ResourceVersion, mounted(t, deployment).ResourceVersion)
	require.Len(t, companionsIn(t, vs.Namespace), 1)

	harness.Change(t, world, config, func(c *corev1.ConfigMap) { c.Data["teams.csv"] = "service,team\n" })
	harness.Until(t, world, deployment, "the copy with the other table", func(d *appsv1.Deployment) bool { return volumeConfigMaps(d)[0] != good.Name })
	require.Equal(t, "service,team\n", mounted(t, deployment).Data["teams.csv"])
}

// A ConfigMap of the largest possible size can be copied.
func TestWriteCompanion_CopiesConfigMapOfOneMebibyte(t *testing.T) {
	t.Parallel()
	config, deployment, _ := shipping(t, v1alpha1.ReloadRestart)
	good := mounted(t, deployment)
	size := 1<<20 - len(config.Data["vector.yaml"]) - len(config.BinaryData["geo.mmdb"])

	harness.Change(t, world, config, func(c *corev1.ConfigMap) {
		delete(c.Data, "notes.txt")
		c.Data["teams.csv"] = strings.Repeat("x", size)
	})

	harness.Until(t, world, deployment, "the large object", func(d *appsv1.Deployment) bool { return volumeConfigMaps(d)[0] != good.Name })
	require.Len(t, mounted(t, deployment).Data["teams.csv"], size)
}

// With the deletion of a VectorSidecar, the operator deletes companions of old ReplicaSets. It keeps the companion
// that a Job of a CronJob mounts, and ConfigMaps of the application owner.
func TestVectorSidecar_DeletesCompanionsWhenDeleted(t *testing.T) {
	t.Parallel()
	config, deployment, vs := shipping(t, v1alpha1.ReloadRestart)
	mine := mounted(t, deployment)
	harness.Change(t, world, config, func(c *corev1.ConfigMap) { c.Data["vector.yaml"] = objects.VectorConfig("second") })
	harness.Until(t, world, deployment, "the second sidecar", func(d *appsv1.Deployment) bool { return volumeConfigMaps(d)[0] != mine.Name })
	harness.Until(t, world, vs, "readiness", isUpToDate)
	require.Len(t, companionsIn(t, vs.Namespace), 2, "the Deployment can be rolled back")
	// This ConfigMap is a user's copy of a companion, with all its labels.
	needed := mine.Name
	mine.ObjectMeta = metav1.ObjectMeta{Namespace: vs.Namespace, Name: "mine", Labels: mine.Labels, Annotations: mine.Annotations}
	report := objects.NewWorkload("CronJob", "report", vs.Namespace, nil)
	world.Create(t, mine, report)
	run := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: vs.Namespace, Name: "run", OwnerReferences: []metav1.OwnerReference{
		*metav1.NewControllerRef(report, batchv1.SchemeGroupVersion.WithKind("CronJob")),
	}}}
	deployment.Spec.Template.Spec.DeepCopyInto(&run.Spec.Template.Spec)
	run.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	for i := range run.Spec.Template.Spec.Volumes {
		if from := run.Spec.Template.Spec.Volumes[i].ConfigMap; from != nil {
			from.Name = needed
		}
	}
	world.Create(t, run)

	require.NoError(t, world.Client.Delete(t.Context(), vs))

	harness.Eventually(t, "the deletion of the VectorSidecar", func() bool {
		return apierrors.IsNotFound(world.Client.Get(t.Context(), client.ObjectKeyFromObject(vs), vs))
	})
	left := companionsIn(t, vs.Namespace)
	require.Len(t, left, 2)
	require.ElementsMatch(t, []string{"mine", needed}, []string{left[0].Name, left[1].Name})
	world.Get(t, config)
}

// A deleted companion is created again, also if its label has only a digest of a name that is too long.
func TestOperator_RecreatesCompanionWithLongName(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	deployment := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").Build()
	config := objects.NewConfigMap("shipping", namespace, "vector.yaml", objects.VectorConfig("first"))
	vs := objects.NewVectorSidecar(strings.Repeat("long.", 49)+"name", namespace).Selecting("logs", "vector").WithConfigMap("shipping", "").Build()
	world.Create(t, config, deployment, vs)
	harness.Until(t, world, vs, "readiness", isUpToDate)
	made := companionsIn(t, namespace)
	require.Len(t, made, 1)

	require.NoError(t, world.Client.Delete(t.Context(), &made[0]))

	harness.Eventually(t, "the restored object", func() bool {
		now := companionsIn(t, namespace)
		return len(now) == 1 && now[0].Name == made[0].Name && now[0].UID != made[0].UID
	})
}

// The name of a configMapRef is not a path: it cannot refer to a ConfigMap of another namespace.
func TestConfigMapRef_DoesNotReadOtherNamespaces(t *testing.T) {
	t.Parallel()
	namespace, other := world.Namespace(t), world.Namespace(t)
	config := objects.NewConfigMap("shipping", other, "vector.yaml", objects.VectorConfig("confidential"))
	deployment := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").Build()
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithConfigMap(other+"/shipping", "").Build()
	world.Create(t, config, deployment, vs)
	harness.Until(t, world, vs, "the rejection", isNotValid(meta.ReasonConfigMapNotFound))
	require.NotContains(t, message(vs, meta.ConditionConfigValid), "vector.yaml")
	require.Empty(t, companionsIn(t, namespace))
	world.Get(t, deployment)
	require.False(t, isInjected(deployment))
}
