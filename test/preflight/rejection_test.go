// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package preflight

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// The operator's ServiceAccount may create pods and Secrets in dry runs only, and may not read them.
func TestPreflight_CreatesNoPodsOrSecrets(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	operator, err := client.New(world.Operator, client.Options{})
	require.NoError(t, err)
	pod := func() client.Object {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "shell", Namespace: namespace},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "shell", Image: "shell"}}},
		}
	}
	secret := func() client.Object {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "token", Namespace: namespace}}
	}
	for _, made := range []func() client.Object{pod, secret} {
		harness.Eventually(t, "the account's right", func() bool { return operator.Create(t.Context(), made(), client.DryRunAll) == nil })
		err := operator.Create(t.Context(), made())
		require.True(t, apierrors.IsForbidden(err), "%v", err)
		require.ErrorContains(t, err, "in dry runs only")
		require.True(t, apierrors.IsForbidden(operator.Get(t.Context(), client.ObjectKeyFromObject(made()), made())))
		require.NoError(t, world.Client.Create(t.Context(), made()), "nobody else is held to that")
	}
}

// quota creates a ResourceQuota of memory requests and waits until it is enforced.
func quota(t *testing.T, namespace, memory string) *corev1.ResourceQuota {
	t.Helper()
	made := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "compute", Namespace: namespace},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourceRequestsMemory: resource.MustParse(memory)}},
	}
	world.Create(t, made)
	awaitQuota(t, made)
	return made
}

// widen increases the limit of a quota.
func widen(t *testing.T, quota *corev1.ResourceQuota) {
	t.Helper()
	harness.Change(t, world, quota, func(q *corev1.ResourceQuota) { q.Spec.Hard[corev1.ResourceRequestsMemory] = resource.MustParse("1Gi") })
	awaitQuota(t, quota)
}

func awaitQuota(t *testing.T, quota *corev1.ResourceQuota) {
	t.Helper()
	harness.Until(t, world, quota, "an effective quota", func(q *corev1.ResourceQuota) bool {
		return q.Status.Hard.Name(corev1.ResourceRequestsMemory, resource.BinarySI).Equal(q.Spec.Hard[corev1.ResourceRequestsMemory])
	})
}

// If a quota allows one more pod of the application, but not with the sidecar, the operator does not write the
// sidecar. The status reports the quota.
func TestPreflight_ReportsQuotaThatRejectsSidecar(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	limit := quota(t, namespace, "40Mi")
	deployment, vs := cart(namespace).Build(), logs(namespace).Build()
	world.Create(t, deployment, vs)
	said := awaitRejection(t, vs)
	require.Contains(t, said, "exceeded quota: compute")
	require.Contains(t, said, "but not without it")
	requireUnchanged(t, deployment)
	harness.Eventually(t, "an event that the workload's team sees", func() bool {
		var found eventsv1.EventList
		require.NoError(t, world.Client.List(t.Context(), &found, client.InNamespace(namespace)))
		return slices.ContainsFunc(found.Items, func(e eventsv1.Event) bool {
			return e.Regarding.UID == deployment.UID && e.Reason == meta.ReasonPreflightRejected && strings.Contains(e.Note, "exceeded quota: compute")
		})
	})
	tried, written := countRequests(running, namespace, "deployments")
	require.Equal(t, []int{1, 0}, []int{tried, written})
	tried, written = countRequests(running, namespace, "pods")
	require.Equal(t, []int{2, 0}, []int{tried, written}, "with the sidecar, and without")
	_, written = countRequests(running, namespace, "configmaps")
	require.Zero(t, written, "what it would have read is not written either")

	widen(t, limit)
	requestReconcile(t, vs, "now")
	harness.Until(t, world, deployment, "the sidecar", has)
}

// A rejected workload changes its resources. The operator sends another dry run at once.
func TestPreflight_ChecksChangedWorkloadImmediately(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	world.Create(t, &corev1.LimitRange{
		ObjectMeta: metav1.ObjectMeta{Name: "pods", Namespace: namespace},
		Spec:       corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{Type: corev1.LimitTypePod, Max: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}}}},
	})
	limited := func(memory string) func(*corev1.PodSpec) {
		return func(spec *corev1.PodSpec) {
			spec.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(memory)}
		}
	}
	deployment, vs := cart(namespace).Pod(limited("1000Mi")).Build(), logs(namespace).Build()
	harness.Eventually(t, "an effective LimitRange", func() bool {
		trial := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "trial", Namespace: namespace}, Spec: *deployment.Spec.Template.Spec.DeepCopy()}
		limited("2Gi")(&trial.Spec)
		return world.Client.Create(t.Context(), trial, client.DryRunAll) != nil
	})
	world.Create(t, deployment, vs)
	require.Contains(t, awaitRejection(t, vs), "maximum memory usage per Pod is 1Gi")
	requireUnchanged(t, deployment)

	harness.Change(t, world, deployment, func(d *appsv1.Deployment) { limited("64Mi")(&d.Spec.Template.Spec) })
	harness.Until(t, world, deployment, "the sidecar", has)
}

// If a full quota also rejects the application's pods without the sidecar, the operator skips the workload. The
// VectorSidecar does not have an error.
func TestPreflight_SkipsWorkloadWithFullQuota(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	limit := quota(t, namespace, "20Mi")
	deployment, vs := cart(namespace).Build(), logs(namespace).Build()
	world.Create(t, deployment)
	harness.Until(t, world, limit, "the first processed pod", func(q *corev1.ResourceQuota) bool {
		return !q.Status.Used.Name(corev1.ResourceRequestsMemory, resource.BinarySI).IsZero()
	})
	world.Create(t, vs)
	harness.Until(t, world, vs, "the skipped workload", func(vs *v1alpha1.VectorSidecar) bool {
		return len(vs.Status.Workloads) == 1 && vs.Status.Workloads[0].Reason == meta.ReasonApplicationRejected
	})
	require.Equal(t, v1alpha1.StateSkipped, vs.Status.Workloads[0].State)
	require.Contains(t, vs.Status.Workloads[0].Message, "with and without the sidecar")
	require.False(t, apimeta.IsStatusConditionTrue(vs.Status.Conditions, meta.ConditionError))
	require.True(t, apimeta.IsStatusConditionTrue(vs.Status.Conditions, meta.ConditionReady))
	requireUnchanged(t, deployment)
}

// With the strategy Recreate, pods are deleted before new ones are created. So the operator injects the sidecar
// although a quota rejects one more pod.
func TestPreflight_IgnoresQuotaWithRecreateStrategy(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	quota(t, namespace, "40Mi")
	deployment, vs := cart(namespace).Build(), logs(namespace).Build()
	deployment.Spec.Strategy.Type = "Recreate"
	world.Create(t, deployment, vs)
	harness.Until(t, world, deployment, "the sidecar", has)
	tried, _ := countRequests(running, namespace, "pods")
	require.Equal(t, 1, tried)
}

// In a namespace without Pod Security labels, the API server's default level applies. The operator cannot read that
// level, but its dry run reports the rejection.
func TestPreflight_ReportsPodSecurityRejection(t *testing.T) {
	t.Parallel()
	privileged := func(s *v1alpha1.SidecarSpec) {
		s.SecurityContext = &corev1.SecurityContext{Privileged: new(true), AllowPrivilegeEscalation: new(true)}
	}
	namespace := world.Namespace(t)
	deployment, vs := cart(namespace).Build(), logs(namespace).Sidecar(privileged).Build()
	world.Create(t, deployment, vs)
	require.Contains(t, awaitRejection(t, vs), `violates PodSecurity "baseline:latest"`)
	requireUnchanged(t, deployment)

	labeled := world.Namespace(t, "pod-security.kubernetes.io/enforce", "restricted")
	vs = logs(labeled).Sidecar(privileged).Build()
	restricted := cart(labeled).Pod(func(spec *corev1.PodSpec) {
		spec.SecurityContext = &corev1.PodSecurityContext{RunAsNonRoot: new(true), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}}
		spec.Containers[0].SecurityContext = &corev1.SecurityContext{AllowPrivilegeEscalation: new(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}}
	}).Build()
	world.Create(t, restricted, vs)
	harness.Until(t, world, vs, "a rejection", func(vs *v1alpha1.VectorSidecar) bool {
		return len(vs.Status.Workloads) == 1 && vs.Status.Workloads[0].Reason == meta.ReasonPodSecurity
	})
	tried, _ := countRequests(running, labeled, "pods")
	require.Zero(t, tried, "what the operator judges itself needs no dry run")
}

// A dry run shows whether a Secret exists. The operator does not read the Secret's data.
func TestPreflight_ReportsMissingSecret(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	deployment := cart(namespace).Build()
	vs := logs(namespace).Sidecar(func(s *v1alpha1.SidecarSpec) {
		optional := true
		s.Env = []corev1.EnvVar{
			{Name: "TOKEN", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "aggregator"}, Key: "token"}}},
			{Name: "MORE", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "optional"}, Key: "more", Optional: &optional}}},
		}
	}).Build()
	world.Create(t, deployment, vs)
	require.Contains(t, awaitRejection(t, vs), "Secret "+namespace+"/aggregator does not exist")
	requireUnchanged(t, deployment)
	tried, written := countRequests(running, namespace, "secrets")
	require.Equal(t, []int{1, 0}, []int{tried, written})

	world.Create(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "aggregator"}, StringData: map[string]string{"token": "t"}})
	requestReconcile(t, vs, "now")
	harness.Until(t, world, deployment, "the sidecar", has)
}

// A pull secret of the sidecar must exist, but a missing pull secret of the ServiceAccount is not reported. When the
// sidecar is removed from an atomic list, only the secret that was injected is removed.
func TestPreflight_ReportsMissingPullSecret(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	account := &corev1.ServiceAccount{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "cart"}, ImagePullSecrets: []corev1.LocalObjectReference{{Name: "gone"}},
	}
	deployment := cart(namespace).Pod(func(pod *corev1.PodSpec) { pod.ServiceAccountName = account.Name }).Build()
	listing := func(name string, secrets ...string) *unstructured.Unstructured {
		return asRollout(t, objects.NewDeployment(name, namespace).Labeled("logs", "vector").WithReplicas(0).Pod(func(pod *corev1.PodSpec) {
			for _, secret := range secrets {
				pod.ImagePullSecrets = append(pod.ImagePullSecrets, corev1.LocalObjectReference{Name: secret})
			}
		}).Build())
	}
	same, another := listing("same", "registry", "apps"), listing("another", "apps")
	vs := logs(namespace).For("Deployment", "Rollout").Sidecar(func(s *v1alpha1.SidecarSpec) { s.ImagePullSecrets = []string{"registry"} }).Build()
	world.Create(t, account, deployment, same, another, vs)
	require.Contains(t, awaitRejection(t, vs), "Secret "+namespace+"/registry does not exist, and the sidecar's images require this pull secret")
	requireUnchanged(t, deployment)

	world.Create(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "registry"}, StringData: map[string]string{"a": "b"}})
	requestReconcile(t, vs, "now")
	lists := func(sidecars int, want ...string) func(*unstructured.Unstructured) bool {
		return func(of *unstructured.Unstructured) bool {
			var names []string
			pod := tree.MapAt(of.Object, tree.Pod...)
			for _, item := range tree.List(pod["imagePullSecrets"]) {
				names = append(names, tree.Name(item))
			}
			return len(tree.List(pod["initContainers"])) == sidecars && slices.Equal(names, want)
		}
	}
	cart := asRollout(t, deployment)
	cart.SetAPIVersion("apps/v1")
	cart.SetKind("Deployment")
	harness.Until(t, world, cart, "the sidecar, and what its ServiceAccount has", lists(1, "gone", "registry"))
	harness.Until(t, world, same, "the sidecar, and the owner's list", lists(1, "registry", "apps"))
	harness.Until(t, world, another, "the sidecar with its pull secret", lists(1, "apps", "registry"))

	require.NoError(t, world.Client.Delete(t.Context(), vs))
	harness.Until(t, world, cart, "no field of the sidecar", lists(0))
	harness.Until(t, world, same, "only the owner's list", lists(0, "registry", "apps"))
	harness.Until(t, world, another, "only the owner's list", lists(0, "apps"))
}

// For each workload kind, the dry run uses a pod as the kind's controller creates it, so the API server accepts it.
func TestPreflight_AcceptsPodsOfEveryKind(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	quota(t, namespace, "10Gi") // So that what is tried has to be whole.
	labels := map[string]string{"logs": "vector"}
	vs := logs(namespace).For("Deployment", "StatefulSet", "DaemonSet", "CronJob").Build()
	all := []string{"Deployment", "StatefulSet", "DaemonSet", "CronJob"}
	for _, kind := range all {
		object := objects.NewWorkload(kind, "of-"+strings.ToLower(kind), namespace, labels)
		of, _ := workload.ToObject(object)
		spec := &workload.PodTemplate(of).Spec
		spec.Containers[0].Resources = *objects.Requests("10m", "16Mi")
		if set, isSet := object.(*appsv1.StatefulSet); isSet {
			spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}
			set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{
				ObjectMeta: metav1.ObjectMeta{Name: "data"},
				Spec: corev1.PersistentVolumeClaimSpec{
					AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
					Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
				},
			}}
		}
		world.Create(t, object)
	}
	world.Create(t, vs)
	harness.Until(t, world, vs, "the change in all workloads", func(vs *v1alpha1.VectorSidecar) bool { return vs.Status.InjectedWorkloads == int32(len(all)) })
	tried, written := countRequests(running, namespace, "pods")
	require.Equal(t, []int{len(all), 0}, []int{tried, written}, "none was refused, for want of anything that its controller gives it")
}
