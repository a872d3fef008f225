// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

const manager = "vectorsidecar/logs"

// desired returns a native sidecar with a volume, which each of the named application containers is
// to mount.
func desired(image string, into ...string) *plan.Desired {
	always := corev1.ContainerRestartPolicyAlways
	overlay := &workload.Overlay{
		Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			InitContainers: []corev1.Container{{Name: "vector", Image: image, RestartPolicy: &always}},
			Volumes:        []corev1.Volume{{Name: "shared"}},
		}},
		Body: map[string]any{"spec": map[string]any{
			"initContainers": []any{map[string]any{"name": "vector", "image": image, "restartPolicy": "Always"}},
			"volumes":        []any{map[string]any{"name": "shared", "emptyDir": map[string]any{}}},
		}},
		Hash: image,
	}
	for _, name := range into {
		overlay.Mounts = append(overlay.Mounts, workload.Mount{Container: name, VolumeMount: corev1.VolumeMount{Name: "shared", MountPath: "/srv/logs"}})
	}
	return plan.NewDesired(overlay, "logs", "vector", "config-1", plan.Notes{})
}

// application returns a Deployment as in its owner's file, without anything that a server sets.
func application() *appsv1.Deployment {
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "cart", Namespace: "shop"}}
	deployment.Spec.Template.Spec = corev1.PodSpec{
		InitContainers: []corev1.Container{{Name: "migrate", Image: "migrate:1"}, {Name: "warm-up", Image: "warm-up:1"}},
		Containers:     []corev1.Container{{Name: "app", Image: "app:1"}, {Name: "second", Image: "second:1"}},
		Volumes:        []corev1.Volume{{Name: "cache", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
	}
	return deployment
}

func carryOut(t *testing.T, merger *Merger, deployment *appsv1.Deployment, p *plan.Plan) *appsv1.Deployment {
	t.Helper()
	require.True(t, p.Writes(), "%s: %s", p.Reason(), p.Message())
	merged, err := merger.Workload(deployment, p)
	require.NoError(t, err)
	result := &appsv1.Deployment{}
	require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(merged.Object, result))
	return result
}

// inject merges a sidecar in, remove takes it out, as the operator would.
func inject(t *testing.T, merger *Merger, deployment *appsv1.Deployment, sidecar *plan.Desired) *appsv1.Deployment {
	t.Helper()
	view := workload.NewView(deployment)
	p := plan.ForInjection(manager, sidecar, plan.Policy{}, &view)
	return carryOut(t, merger, deployment, &p)
}

func remove(t *testing.T, merger *Merger, deployment *appsv1.Deployment) *appsv1.Deployment {
	t.Helper()
	view := workload.NewView(deployment)
	p := plan.ForRemoval(manager, &view)
	return carryOut(t, merger, deployment, &p)
}

func names(containers []corev1.Container) []string {
	var all []string
	for i := range containers {
		all = append(all, containers[i].Name)
	}
	return all
}

// A manifest lacks fields that the API server sets. It is still merged as a live workload: the application's items keep
// their order, and the sidecar comes first.
func TestMerger_MergesManifestLikeLiveWorkload(t *testing.T) {
	merger, err := New()
	require.NoError(t, err)
	for name, given := range map[string]func(*appsv1.Deployment){
		"a manifest":                   func(*appsv1.Deployment) {},
		"one that was read off":        func(d *appsv1.Deployment) { d.UID = types.UID("u") },
		"one whose record was cut out": func(d *appsv1.Deployment) { d.UID, d.ManagedFields = "u", []metav1.ManagedFieldsEntry{} },
	} {
		for mode, sidecar := range map[string]*plan.Desired{
			"applied":                desired("vector:1"),
			"mounted into one":       desired("vector:1", "app"),
			"mounted into all of it": desired("vector:1", "app", "second"),
		} {
			t.Run(name+", "+mode, func(t *testing.T) {
				original := application()
				given(original)
				before := original.DeepCopy()

				injected := inject(t, merger, original, sidecar)
				require.Equal(t, []string{"vector", "migrate", "warm-up"}, names(injected.Spec.Template.Spec.InitContainers))
				require.Equal(t, []string{"app", "second"}, names(injected.Spec.Template.Spec.Containers))
				require.Len(t, injected.Spec.Template.Spec.Volumes, 2)
				require.Equal(t, before, original, "the arguments are not changed")

				require.Equal(t, before.Spec, remove(t, merger, injected).Spec)
			})
		}
	}
}

// In a live workload, the merge overwrites manual changes of the sidecar, and nothing else.
func TestMerger_RevertsManualChanges(t *testing.T) {
	merger, err := New()
	require.NoError(t, err)
	injected := inject(t, merger, application(), desired("vector:1"))
	for who, isTaken := range map[string]bool{"kubectl-edit": true, "helm": false} {
		t.Run(who, func(t *testing.T) {
			changed := edit(t, merger, injected, who, func(d *appsv1.Deployment) { d.Spec.Template.Spec.InitContainers[0].Image = "vector:other" })
			view := workload.NewView(changed)
			p := plan.ForInjection(manager, desired("vector:1"), plan.Policy{}, &view)
			require.Equal(t, plan.Update, p.Change)

			merged, err := merger.Workload(changed, &p)
			if !isTaken {
				require.ErrorContains(t, err, who)
				return
			}
			require.NoError(t, err)
			result := &appsv1.Deployment{}
			require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(merged.Object, result))
			require.Equal(t, "vector:1", result.Spec.Template.Spec.InitContainers[0].Image)
		})
	}
}

// edit changes a workload as another field manager, and updates the managed fields.
func edit(t *testing.T, merger *Merger, deployment *appsv1.Deployment, who string, change func(*appsv1.Deployment)) *appsv1.Deployment {
	t.Helper()
	one := &kindMerger{workload.Default(), merger.fields["Deployment"]}
	live, err := one.toUnstructured(deployment)
	require.NoError(t, err)
	changed := deployment.DeepCopy()
	change(changed)
	written, err := one.toUnstructured(changed)
	require.NoError(t, err)
	recorded, err := one.fields.Update(live, written, who)
	require.NoError(t, err)
	result := &appsv1.Deployment{}
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(recorded)
	require.NoError(t, err)
	require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(object, result))
	return result
}
