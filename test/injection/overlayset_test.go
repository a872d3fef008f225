// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package injection

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// otlp listens on other ports than a VectorSidecar with defaults, and has no pod annotation in common with it.
func otlp(name, namespace string) *objects.VectorSidecar {
	return objects.NewVectorSidecar(name, namespace).Selecting("logs", "vector").Named("vector-otlp").Sidecar(func(s *v1alpha1.SidecarSpec) {
		enabled, off, grpc, http, port := true, false, int32(4317), int32(4318), int32(18686)
		s.OTLP = &v1alpha1.OTLPSpec{Enabled: &enabled, GRPCPort: &grpc, HTTPPort: &http}
		s.Metrics = &v1alpha1.MetricsSpec{Enabled: &off}
		s.Health, s.Data = &v1alpha1.HealthSpec{Port: &port}, &v1alpha1.DataSpec{Evictable: "Never"}
	})
}

// If two VectorSidecars that select a new workload are compatible, the API server injects both sidecars. If they
// conflict, it injects only the sidecar of the older VectorSidecar.
func TestOverlaySet_InjectsTwoCompatibleVectorSidecars(t *testing.T) {
	t.Parallel()
	t.Run("that get along", func(t *testing.T) {
		t.Parallel()
		namespace := world.Namespace(t)
		older, younger := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").Build(), otlp("traces", namespace).Build()
		world.Create(t, older, younger)
		awaitOverlay(t, older)
		awaitOverlay(t, younger)
		deployment := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").WithInitContainer("migrate").Build()
		untilActive(t, deployment, "vector")
		untilActive(t, deployment, "vector-otlp")
		world.Create(t, deployment)
		require.Equal(t, []string{"vector", "vector-otlp", "migrate", "app"}, names(deployment))
		harness.Until(t, world, deployment, "the adoption of both sidecars", func(d *appsv1.Deployment) bool { return isAdopted("logs")(d) && isAdopted("traces")(d) })
		require.Equal(t, "logs", deployment.Annotations[meta.AnnotationSidecarName], "the older one has the plain annotations")
		harness.Until(t, world, deployment, "its pods", func(d *appsv1.Deployment) bool {
			return d.Status.ObservedGeneration == d.Generation && d.Status.AvailableReplicas == 1
		})
		require.Equal(t, 1, revisions(t, namespace))
		world.Delete(t, older)
		harness.Until(t, world, deployment, "a single sidecar", func(d *appsv1.Deployment) bool { return !has(d, "vector") })
		require.Equal(t, []string{"vector-otlp", "migrate", "app"}, names(deployment))
	})
	t.Run("that clash", func(t *testing.T) {
		t.Parallel()
		namespace := world.Namespace(t)
		older, younger := objects.NewVectorSidecar("a-logs", namespace).Selecting("logs", "vector").Build(), objects.NewVectorSidecar("b-logs", namespace).Selecting("logs", "vector").Build()
		world.Create(t, older, younger)
		awaitOverlay(t, older)
		set := awaitOverlay(t, younger)
		require.Equal(t, []string{"a-logs"}, set.Spec.Overlays[1].Supersedes)
		deployment := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").Build()
		untilActive(t, deployment, "vector")
		world.Create(t, deployment)
		require.Equal(t, []string{"vector", "app"}, names(deployment))
		harness.Until(t, world, deployment, "the adoption by the operator", func(d *appsv1.Deployment) bool { return isAdopted("a-logs")(d) })
		require.False(t, isAdopted("b-logs")(deployment))
	})
}

// The API server injects pod annotations with the sidecar. If the application's pod template has one of these
// annotations, the operator injects the sidecar instead and does not change that annotation.
func TestOverlaySet_InjectsPodAnnotations(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").Sidecar(func(s *v1alpha1.SidecarSpec) {
		s.NodeAgents = "Exclude"
		s.PodAnnotations = map[string]string{"team.example.com/shipped-by": "vector"}
	}).Build()
	world.Create(t, vs)
	set := awaitOverlay(t, vs)
	require.Contains(t, set.Spec.Overlays[0].AnnotationKeys, "team.example.com/shipped-by")
	deployment := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").Build()
	before := deployment.Spec.Template.DeepCopy()
	untilActive(t, deployment, "vector")
	world.Create(t, deployment)
	for _, annotation := range set.Spec.PodAnnotations {
		require.Equal(t, annotation.Value, template(deployment).Annotations[annotation.Key], annotation.Key)
	}
	require.Greater(t, len(set.Spec.PodAnnotations), 1)
	harness.Until(t, world, deployment, "the adoption by the operator", func(d *appsv1.Deployment) bool { return isAdopted("logs")(d) })
	require.EqualValues(t, 1, deployment.Generation)

	theirs := objects.NewDeployment("theirs", namespace).Labeled("logs", "vector").PodAnnotated("vector.dev/exclude-containers", "app").Build()
	world.Create(t, theirs)
	require.False(t, has(theirs, "vector"), "the API server does not know what to leave out")
	harness.Until(t, world, theirs, "the operator's sidecar", func(d *appsv1.Deployment) bool { return isAdopted("logs")(d) })
	require.Equal(t, "app", template(theirs).Annotations["vector.dev/exclude-containers"])
	require.Equal(t, "vector", template(theirs).Annotations["team.example.com/shipped-by"])

	world.Delete(t, vs)
	harness.Until(t, world, deployment, "removal", func(d *appsv1.Deployment) bool { return !has(d, "vector") })
	require.Equal(t, before.Annotations, template(deployment).Annotations)
}

// The API server lists the sidecar's volumes as evictable in every pod. The operator would not add this annotation to
// a pod that has a volume of the application. It adopts the injected annotation unchanged, so the pods start once.
func TestOverlaySet_AnnotatesVolumesInEveryPod(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").Build()
	world.Create(t, vs)
	awaitOverlay(t, vs)
	deployment := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").WithEmptyDir("cache", "/cache").Build()
	untilActive(t, deployment, "vector")
	world.Create(t, deployment)
	require.Equal(t, "vectorsidecar-vector-data", template(deployment).Annotations[meta.AnnotationEvictableVolumes])
	harness.Until(t, world, deployment, "the adoption by the operator", func(d *appsv1.Deployment) bool { return isAdopted("logs")(d) })
	require.EqualValues(t, 1, deployment.Generation)
	harness.Until(t, world, vs, "readiness", func(vs *v1alpha1.VectorSidecar) bool { return vs.Status.ReadyWorkloads == 1 })
	require.Equal(t, 1, revisions(t, namespace))
}

// The API server does not inject into workloads into which the operator would not inject.
func TestOverlaySet_SkipsWorkloadsSkippedByOperator(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").Build()
	world.Create(t, vs)
	awaitOverlay(t, vs)
	matched := func(name string) *objects.Deployment {
		return objects.NewDeployment(name, namespace).Labeled("logs", "vector")
	}
	untilActive(t, matched("any").Build(), "vector")
	for name, builder := range map[string]*objects.Deployment{
		"opted out":                  matched("a").Annotated(meta.AnnotationInject, "false"),
		"misspelled":                 matched("b").Annotated(meta.AnnotationInject, "no"),
		"values of its own":          matched("c").Annotated(meta.AnnotationValuesPrefix+"sidecar.logLevel", "debug"),
		"another label":              objects.NewDeployment("d", namespace).Labeled("logs", "fluent"),
		"paused":                     matched("e").Paused(),
		"a port that is taken":       matched("f").WithPort(9598),
		"a name that is taken":       matched("g").WithContainer("vector"),
		"an init container's name":   matched("h").WithInitContainer("vector"),
		"a volume that is taken":     matched("i").WithEmptyDir("vectorsidecar-vector-data", "/data"),
		"a short grace period":       matched("j").Pod(func(p *corev1.PodSpec) { grace := int64(5); p.TerminationGracePeriodSeconds = &grace }),
		"the network of the node":    matched("k").Pod(func(p *corev1.PodSpec) { p.HostNetwork = true }),
		"Windows":                    matched("l").Pod(func(p *corev1.PodSpec) { p.OS = &corev1.PodOS{Name: corev1.Windows} }),
		"annotations near the limit": matched("m").PodAnnotated("notes", string(make([]byte, 0))+longText(210000)),
	} {
		t.Run(name, func(t *testing.T) {
			object := builder.Build()
			before := names(object)
			require.NoError(t, world.Client.Create(t.Context(), object, client.DryRunAll))
			require.Equal(t, before, names(object))
			require.NotContains(t, object.Spec.Template.Annotations, meta.AnnotationInjectedItems(meta.Manager("logs")))
		})
	}
}

// If the path of another mount is not clean, CEL cannot decide which mount contains the logs. The API server then
// does not inject.
func TestOverlaySet_SkipsUncleanMountPaths(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithLogs("/var/log/app").Build()
	world.Create(t, vs)
	matched := func(name string) *objects.Deployment {
		return objects.NewDeployment(name, namespace).Labeled("logs", "vector").WithEmptyDir("logs", "/var/log/app")
	}
	first := matched("first").Build()
	world.Create(t, first)
	harness.Until(t, world, first, "the operator's sidecar", func(d *appsv1.Deployment) bool { return isAdopted("logs")(d) })
	awaitOverlay(t, vs)
	untilActive(t, matched("any").Build(), "vector")
	for path, isIn := range map[string]bool{
		"/var/log": true, "/": true, "/var/log/...": true, "/var/log/.app": true, "/var/log/app/..below": true,
		"/var/log/app/": false, "/var/log//app": false, "/var/./log/app": false, "/var/log/../log/app": false, "/var/log/app/.": false, "var/log/app": false,
	} {
		object := matched("other").WithEmptyDir("other", path).Build()
		require.NoError(t, world.Client.Create(t.Context(), object, client.DryRunAll), path)
		require.Equal(t, isIn, has(object, "vector"), path)
	}
}

func longText(n int) string {
	text := make([]byte, n)
	for i := range text {
		text[i] = 'x'
	}
	return string(text)
}

// If a VectorSidecar is paused, disabled or deleted, the operator removes its overlay at once.
func TestOverlaySet_RemovesInactiveVectorSidecar(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").Build()
	world.Create(t, vs)
	awaitOverlay(t, vs)
	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Rollout = &v1alpha1.RolloutSpec{Paused: true} })
	require.Equal(t, "spec.rollout.paused is true", awaitSkipReason(t, vs))
	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Rollout = nil })
	set := awaitOverlay(t, vs)

	world.Delete(t, set)
	awaitOverlay(t, vs) // It comes back.

	off := false
	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Enabled = &off })
	gone := func() bool {
		return client.IgnoreNotFound(world.Client.Get(t.Context(), client.ObjectKeyFromObject(set), set)) == nil && set.UID == "" ||
			world.Client.Get(t.Context(), client.ObjectKeyFromObject(set), set) != nil
	}
	harness.Eventually(t, "no overlay set", gone)
	on := true
	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Enabled = &on })
	awaitOverlay(t, vs)
	world.Delete(t, vs)
	harness.Eventually(t, "no overlay set", gone)
}

// If the API server would reject pod templates with the sidecar, the sidecar has no active overlay. So workloads are
// still accepted, without the sidecar.
func TestOverlaySet_OmitsInvalidSidecar(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").Volumes(corev1.Volume{
		Name: "vector-broken", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: ptr.To(resource.MustParse("-1"))}},
	}).Build()
	world.Create(t, vs)
	require.Contains(t, awaitSkipReason(t, vs), "sizeLimit")
	deployment := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").Build()
	world.Create(t, deployment)
	require.Equal(t, []string{"app"}, names(deployment))
}

// Only the operator may create or update an OverlaySet.
func TestOverlaySet_RejectsWritesOfOtherUsers(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").Build()
	world.Create(t, vs)
	set := awaitOverlay(t, vs)
	set.Spec.Overlays[0].GraceSeconds = 0
	require.ErrorContains(t, world.Client.Update(t.Context(), set), "only the operator does")
	made := &v1alpha1.OverlaySet{ObjectMeta: metav1.ObjectMeta{Name: "mine", Namespace: namespace}, Spec: set.Spec}
	require.ErrorContains(t, world.Client.Create(t.Context(), made), "may not write OverlaySet")
}

// If a user deletes an OverlaySet in the foreground, the garbage collector updates it before it is gone. The policies
// accept that update, and the operator then creates the OverlaySet again.
func TestOverlaySet_SupportsForegroundDeletion(t *testing.T) {
	t.Parallel()
	for _, way := range []metav1.DeletionPropagation{metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan} {
		t.Run(string(way), func(t *testing.T) {
			t.Parallel()
			namespace := world.Namespace(t)
			vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").Build()
			world.Create(t, vs)
			set := awaitOverlay(t, vs)
			require.NoError(t, world.Client.Delete(t.Context(), set, client.PropagationPolicy(way)))
			is := &v1alpha1.OverlaySet{}
			harness.Eventually(t, "its replacement", func() bool {
				return world.Client.Get(t.Context(), client.ObjectKeyFromObject(set), is) == nil && is.UID != set.UID
			})
		})
	}
}

// If another policy adds a container with the sidecar's name, the API server still accepts the workload.
func TestOverlaySet_ToleratesPolicyWithEqualContainer(t *testing.T) {
	t.Parallel()
	for _, prefix := range []string{"aaa", "zzz"} {
		t.Run(prefix, func(t *testing.T) {
			namespace := world.Namespace(t)
			vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").Sidecar(func(s *v1alpha1.SidecarSpec) {
				s.Socket = &v1alpha1.SocketSpec{Enabled: ptr.To(true)}
				s.ApplicationEnv = &v1alpha1.ApplicationEnvSpec{Socket: ptr.To("LOG_ADDRESS")}
			}).Build()
			world.Create(t, vs)
			awaitOverlay(t, vs)
			deployment := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").Build()
			untilActive(t, deployment, "vector")
			addTheirs(t, prefix+"-"+namespace, namespace)
			harness.Eventually(t, "the other policy to be effective", func() bool {
				trial := deployment.DeepCopy()
				trial.Name, trial.Labels = "trial", nil
				return world.Client.Create(t.Context(), trial, client.DryRunAll) == nil && len(names(trial)) == 2
			})
			require.NoError(t, world.Client.Create(t.Context(), deployment))
			require.Equal(t, 1, strings.Count(" "+strings.Join(names(deployment), " ")+" ", " vector "), "%v", names(deployment))
			isIn := len(deployment.Spec.Template.Spec.InitContainers) > 0
			require.Equal(t, isIn, deployment.Spec.Template.Annotations != nil)
			require.Equal(t, isIn, len(injectedVariables(deployment, "app")) == 1, "who has no sidecar is not told of one")
		})
	}
}

// addTheirs creates a policy that adds a container named vector, as other injectors do.
func addTheirs(t *testing.T, name, namespace string) {
	t.Helper()
	policy := &admissionv1.MutatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionv1.MutatingAdmissionPolicySpec{
			MatchConstraints: &admissionv1.MatchResources{
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}},
				ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
					Operations: []admissionv1.OperationType{admissionv1.Create},
					Rule:       admissionv1.Rule{APIGroups: []string{"apps"}, APIVersions: []string{"v1"}, Resources: []string{"deployments"}},
				}}},
			},
			ReinvocationPolicy: admissionv1.NeverReinvocationPolicy,
			Mutations: []admissionv1.Mutation{{
				PatchType: admissionv1.PatchTypeApplyConfiguration,
				ApplyConfiguration: &admissionv1.ApplyConfiguration{Expression: `Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{
					containers: [Object.spec.template.spec.containers{name: "vector", image: "registry.example/theirs:1"}]}}}}`},
			}},
		},
	}
	binding := &admissionv1.MutatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       admissionv1.MutatingAdmissionPolicyBindingSpec{PolicyName: name},
	}
	world.Create(t, policy, binding)
	t.Cleanup(func() {
		_ = world.Client.Delete(t.Context(), binding)
		_ = world.Client.Delete(t.Context(), policy)
	})
}

// A changed sidecar waits for a rollout slot. The application owner's next change of the workload injects it in the
// same generation.
func TestOverlaySet_AppliesWaitingSidecarWithNextDeploy(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithMaxConcurrent("1").WithSoak(15 * time.Second).Sidecar(func(s *v1alpha1.SidecarSpec) { s.LogLevel = "info" }).Build()
	world.Create(t, vs)
	awaitOverlay(t, vs)
	first, second := objects.NewDeployment("a", namespace).Labeled("logs", "vector").Build(), objects.NewDeployment("b", namespace).Labeled("logs", "vector").Build()
	untilActive(t, first, "vector")
	world.Create(t, first, second)
	for _, one := range []*appsv1.Deployment{first, second} {
		harness.Until(t, world, one, "the adoption by the operator", func(d *appsv1.Deployment) bool { return isAdopted("logs")(d) })
	}
	harness.Until(t, world, vs, "the end of both soaks", func(vs *v1alpha1.VectorSidecar) bool {
		return vs.Status.ReadyWorkloads == 2 && len(vs.Status.Workloads) == 0
	})
	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: "debug"} })
	set := overlaysOf(t, vs, func(o *v1alpha1.Overlay) bool {
		return o.SkipReason == "" && o.Hash != first.Annotations[meta.AnnotationInjectedHash]
	})
	untilLevel(t, objects.NewDeployment("any", namespace).Labeled("logs", "vector").Build(), "debug")
	world.Get(t, second)
	require.Equal(t, "info", logLevel(second), "it waits for its turn: %v", set.Spec.Overlays[0].Hash)
	before := revisions(t, namespace)

	patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"template":{"metadata":{"labels":{"version":"2"}}}}}`))
	require.NoError(t, world.Client.Patch(t.Context(), second, patch))
	require.EqualValues(t, 2, second.Generation)
	require.Equal(t, "debug", logLevel(second), "one generation with both")
	harness.Until(t, world, second, "the record of the operator", func(d *appsv1.Deployment) bool {
		return d.Annotations[meta.AnnotationInjectedHash] == set.Spec.Overlays[0].Hash
	})
	require.Equal(t, "debug", logLevel(second))
	require.LessOrEqual(t, revisions(t, namespace), before+2)
}

func untilLevel(t *testing.T, object *appsv1.Deployment, level string) {
	t.Helper()
	harness.Eventually(t, "a policy with the new sidecar", func() bool {
		trial := object.DeepCopy()
		return world.Client.Create(t.Context(), trial, client.DryRunAll) == nil && logLevel(trial) == level
	})
}
