// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// newValidatedSidecar returns a VectorSidecar whose configuration Vector validates in a Job.
func newValidatedSidecar(namespace, text string, change func(*v1alpha1.ValidateJobSpec)) *v1alpha1.VectorSidecar {
	return objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithInlineConfig(text).
		Sidecar(func(s *v1alpha1.SidecarSpec) {
			s.Config.ValidateJob = &v1alpha1.ValidateJobSpec{Enabled: ptr.To(true)}
			change(s.Config.ValidateJob)
		}).Build()
}

func unchanged(*v1alpha1.ValidateJobSpec) {}

func validations(t *testing.T, namespace string) []batchv1.Job {
	t.Helper()
	var jobs batchv1.JobList
	require.NoError(t, world.Client.List(t.Context(), &jobs, client.InNamespace(namespace)))
	return jobs.Items
}

// finish ends the pod of the only Job as Vector would, because simulated nodes do not run images. The Job
// controller does the rest.
func finish(t *testing.T, namespace string, exit int32, words string) {
	t.Helper()
	var pods corev1.PodList
	harness.Eventually(t, "the pod of the Job", func() bool {
		return world.Client.List(t.Context(), &pods, client.InNamespace(namespace), client.HasLabels{meta.LabelValidation}) == nil && len(pods.Items) == 1
	})
	harness.Eventually(t, "the pod's end to be written", func() bool {
		pod := &corev1.Pod{}
		if world.Client.Get(t.Context(), client.ObjectKeyFromObject(&pods.Items[0]), pod) != nil {
			return false
		}
		pod.Status.Phase = corev1.PodSucceeded
		if exit != 0 {
			pod.Status.Phase = corev1.PodFailed
		}
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
			Name: "validate", Image: pod.Spec.Containers[0].Image,
			State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: exit, Message: words, Reason: "Error"}},
		}}
		return world.Client.Status().Update(t.Context(), pod) == nil
	})
}

// One Job validates a configuration with an image for all workloads. An invalid configuration is reported and not
// injected.
func TestValidateJobSpec_ValidatesConfigBeforeInjection(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	deployment := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").Build()
	vs := newValidatedSidecar(namespace, objects.VectorConfig("first"), unchanged)
	world.Create(t, deployment, vs)
	harness.Until(t, world, vs, "the waiting state", func(vs *v1alpha1.VectorSidecar) bool {
		return strings.HasPrefix(message(vs, meta.ConditionReady), meta.ReasonValidating)
	})
	world.Get(t, deployment)
	require.True(t, isClean(deployment))

	finish(t, namespace, 0, "")
	harness.Until(t, world, vs, "readiness", isUpToDate)
	harness.Eventually(t, "the Job to be cleaned up", func() bool { return len(validations(t, namespace)) == 0 })

	second := objects.NewDeployment("basket", namespace).Labeled("logs", "vector").Build()
	world.Create(t, second)
	harness.Until(t, world, second, "the sidecar, by Vector's previous result", isInjected)
	require.Empty(t, validations(t, namespace), "one content and one image are judged once")

	world.Get(t, deployment)
	generation := deployment.Generation
	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Sidecar.Config.Inline = objects.VectorConfig("second") })
	harness.Eventually(t, "the Job", func() bool { return len(validations(t, namespace)) == 1 })
	finish(t, namespace, 78, "error[E203]: syntax error in VRL")
	harness.Until(t, world, vs, "the rejection by Vector", func(vs *v1alpha1.VectorSidecar) bool {
		return condition(vs, meta.ConditionConfigValid) == "False" &&
			message(vs, meta.ConditionConfigValid) == meta.ReasonInvalidConfig+": vector validate: error[E203]: syntax error in VRL"
	})
	world.Get(t, deployment)
	require.Equal(t, generation, deployment.Generation, "the last good one stays")
}

// The Job ends without a result of Vector. With whenUnable Proceed, the sidecar is injected, and with Wait, it is not.
func TestValidateJobSpec_AppliesWhenUnableWithoutResult(t *testing.T) {
	t.Parallel()
	for policy, proceeds := range map[string]bool{"Proceed": true, "Wait": false} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			namespace := world.Namespace(t)
			deployment := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").Build()
			vs := newValidatedSidecar(namespace, objects.VectorConfig("first"), func(v *v1alpha1.ValidateJobSpec) { v.WhenUnable = policy })
			world.Create(t, deployment, vs)

			finish(t, namespace, 137, "killed")

			if proceeds {
				harness.Until(t, world, deployment, "the sidecar", isInjected)
				harness.Until(t, world, vs, "a message about the problem", func(vs *v1alpha1.VectorSidecar) bool {
					return strings.Contains(message(vs, meta.ConditionReady), "Vector could not check")
				})
				return
			}
			harness.Until(t, world, vs, "the waiting state", func(vs *v1alpha1.VectorSidecar) bool {
				return strings.HasPrefix(message(vs, meta.ConditionReady), meta.ReasonNotValidated+": ") && condition(vs, meta.ConditionConfigValid) == "True"
			})
			world.Get(t, deployment)
			require.True(t, isClean(deployment))
		})
	}
}

func TestValidateJobSpec_StopsJobAtDeadline(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	deployment := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").Build()
	vs := newValidatedSidecar(namespace, objects.VectorConfig("first"), func(v *v1alpha1.ValidateJobSpec) { v.DeadlineSeconds, v.WhenUnable = ptr.To[int32](1), "Wait" })
	world.Create(t, deployment, vs)

	harness.Until(t, world, vs, "the deadline", func(vs *v1alpha1.VectorSidecar) bool {
		return strings.HasPrefix(message(vs, meta.ConditionReady), meta.ReasonNotValidated) && strings.Contains(message(vs, meta.ConditionReady), "DeadlineExceeded")
	})
	harness.Eventually(t, "the Job to be cleaned up", func() bool { return len(validations(t, namespace)) == 0 })
}
