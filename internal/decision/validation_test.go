// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	"k8s.io/utils/ptr"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// judged is a VectorSidecar with validation by Vector itself.
func judged(whenUnable string) *v1alpha1.VectorSidecar {
	sidecar := logs().WithInlineConfig(objects.VectorConfig("x")).Build()
	sidecar.Spec.Sidecar.Config.ValidateJob = &v1alpha1.ValidateJobSpec{
		Enabled: ptr.To(true), DeadlineSeconds: ptr.To[int32](45), WhenUnable: whenUnable,
	}
	return sidecar
}

// If Vector cannot validate the configuration, whenUnable decides whether the write waits.
func TestDecide_AppliesWhenUnableOfValidation(t *testing.T) {
	for choice, waits := range map[string]bool{"": false, "Proceed": false, "Wait": true} {
		s := snapshot(t, judged(choice), cart())
		require.Equal(t, waits, decide(t, s).Plans[0].IsWaiting(), choice)
		s.Verdict = said(decision.VerdictUnable)
		require.Equal(t, waits, decide(t, s).Plans[0].IsWaiting(), choice)
	}
}

func said(state decision.VerdictState) func(string) decision.Verdict {
	return func(string) decision.Verdict { return decision.Verdict{State: state, Message: "its word"} }
}

// A removal does not wait for a validation.
func TestDecide_ValidatesOnlyBeforeWrites(t *testing.T) {
	s := snapshot(t, judged("Wait"), cart())
	s.Verdict = said(decision.VerdictValid)
	first := decide(t, s)
	carried(s, &first.Plans[0])
	s.Companions = written(first.Companions)

	s.Verdict = said(decision.VerdictUnable)
	require.Contains(t, decide(t, s).Plans[0].Warning, "could not check the configuration: its word", "it is still to be told")

	s.Verdict = said(decision.VerdictPending) // As after a restart.
	settled := decide(t, s)
	require.Empty(t, settled.Validations)
	require.Equal(t, plan.None, settled.Plans[0].Change)

	s.Sidecar.Spec.Enabled = ptr.To(false)
	require.Equal(t, plan.Remove, decide(t, s).Plans[0].Change, "a removal waits for nobody")
}

// The Job has a deadline and no retries, and passes the restricted Pod Security level.
func TestDecide_RestrictsValidationJob(t *testing.T) {
	sidecar := judged("")
	sidecar.Spec.Sidecar.EnvFrom = []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "keys"}}}}
	s := snapshot(t, sidecar, cart())
	s.Verdict = said(decision.VerdictPending)

	v := decide(t, s).Validations[0]

	pod := v.Job.Spec.Template.Spec
	require.Contains(t, v.Job.Name, "vector-validate-")
	require.Equal(t, int64(45), *v.Job.Spec.ActiveDeadlineSeconds)
	require.Zero(t, *v.Job.Spec.BackoffLimit)
	require.Positive(t, *v.Job.Spec.TTLSecondsAfterFinished)
	require.False(t, *pod.AutomountServiceAccountToken)
	require.Equal(t, "docker.io/timberio/vector:0.57.0-distroless-static", pod.Containers[0].Image)
	require.Equal(t, []string{"validate", "--no-environment", "--skip-healthchecks", "/etc/vector-validate/0-vector.yaml"}, pod.Containers[0].Args)
	require.Contains(t, pod.Containers[0].Env, corev1.EnvVar{Name: "VECTOR_LOG", Value: "off"}, "what it says is the judgment alone")
	require.Equal(t, sidecar.Spec.Sidecar.EnvFrom, pod.Containers[0].EnvFrom, "variables may be in the configuration")
	require.Equal(t, map[string]string{"0-vector.yaml": objects.VectorConfig("x")}, v.Files.Data)

	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	require.NoError(t, err)
	results := evaluator.EvaluatePod(api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}, &metav1.ObjectMeta{}, &pod)
	for _, result := range results {
		require.True(t, result.Allowed, result.ForbiddenDetail)
	}
}

// Before 0.57, Vector compiles VRL only when it builds the components, which needs data_dir. The validation Job for
// these versions has one.
func TestDecide_GivesDataDirToEarlierVector(t *testing.T) {
	jobOf := func(image, dataDir string) corev1.PodSpec {
		sidecar := judged("")
		sidecar.Spec.Sidecar.Image = image
		sidecar.Spec.Sidecar.Config.Inline = dataDir + objects.VectorConfig("x")
		s := snapshot(t, sidecar, cart())
		s.Verdict = said(decision.VerdictPending)
		decided := decide(t, s)
		require.Len(t, decided.Validations, 1, "%v", decided.Invalid)
		require.Contains(t, decided.Plans[0].Message(), ", except "+decided.Validations[0].Mode.Unchecked)
		return decided.Validations[0].Job.Spec.Template.Spec
	}
	writable := func(pod corev1.PodSpec) (paths []string) {
		for _, mount := range pod.Containers[0].VolumeMounts {
			if slices.ContainsFunc(pod.Volumes, func(v corev1.Volume) bool { return v.Name == mount.Name && v.EmptyDir != nil }) {
				paths = append(paths, mount.MountPath)
			}
		}
		return paths
	}
	for image, args := range map[string][]string{
		"vector:0.45.0": {"validate", "--skip-healthchecks", "/etc/vector-validate/0-vector.yaml"},
		"vector:0.56.0": {"validate", "--skip-healthchecks", "/etc/vector-validate/0-vector.yaml"},
		"vector:0.57.0": {"validate", "--no-environment", "--skip-healthchecks", "/etc/vector-validate/0-vector.yaml"},
		"vector:latest": {"validate", "--no-environment", "--skip-healthchecks", "/etc/vector-validate/0-vector.yaml"},
	} {
		pod := jobOf(image, "")
		require.Equal(t, args, pod.Containers[0].Args, image)
		require.Equal(t, []string{"/var/lib/vector"}, writable(pod), image)
	}
	require.Equal(t, []string{"/var/lib/vector", "/var/lib/vector/own"}, writable(jobOf("vector:0.56.0", "data_dir: /var/lib/vector/own\n")))
	require.Equal(t, []string{"/var/lib/vector"}, writable(jobOf("vector:0.57.0", "data_dir: /var/lib/vector/own\n")))
}

// Workloads with the same configuration and image share one validation.
func TestDecide_ValidatesEachContentAndImageOnce(t *testing.T) {
	key := func(change func(*v1alpha1.VectorSidecar), deployments ...*appsv1.Deployment) string {
		sidecar := judged("")
		change(sidecar)
		s := snapshot(t, sidecar, append(deployments, cart())...)
		s.Verdict = said(decision.VerdictPending)
		all := decide(t, s).Validations
		require.Len(t, all, 1)
		return all[0].Key
	}
	same := key(func(*v1alpha1.VectorSidecar) {})

	require.Equal(t, same, key(func(vs *v1alpha1.VectorSidecar) { vs.Labels = map[string]string{"a": "b"} }))
	require.Equal(t, same, key(func(*v1alpha1.VectorSidecar) {}, objects.NewDeployment("other", "shop").Labeled("logs", "vector").WithPort(1).Build()))
	require.NotEqual(t, same, key(func(vs *v1alpha1.VectorSidecar) { vs.Spec.Sidecar.Image = "vector:0.56.0" }))
	require.NotEqual(t, same, key(func(vs *v1alpha1.VectorSidecar) {
		vs.Spec.Sidecar.Config.Inline = strings.Replace(vs.Spec.Sidecar.Config.Inline, "x", "y", 1)
	}))
}
