// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

func TestArgoRolloutProgress_DerivesStateFromStatus(t *testing.T) {
	// Numbers of pods: that there are, that are updated, that are available.
	status := func(phase, current, stable string, pods, updated, available int32) argoRolloutStatus {
		return argoRolloutStatus{
			ObservedGeneration: "2", Phase: phase, CurrentPodHash: current, StableRS: stable, Replicas: pods, UpdatedReplicas: updated, AvailableReplicas: available,
		}
	}
	unseen := status("Healthy", "a", "a", 3, 3, 3)
	unseen.ObservedGeneration = "1"
	late := status("Progressing", "b", "a", 3, 1, 3)
	late.ObservedGeneration = "1"
	aborted := status("Degraded", "b", "a", 3, 0, 3)
	aborted.Abort = true
	paused := argoRolloutSpec{Replicas: ptr.To[int32](3), Paused: true}
	for name, test := range map[string]struct {
		status    argoRolloutStatus
		spec      argoRolloutSpec
		rollout   Rollout
		isBetween bool
		old       int32
	}{
		"done":                                {status: status("Healthy", "a", "a", 3, 3, 3), rollout: RolloutComplete},
		"a change not seen yet can be joined": {status: unseen, rollout: RolloutProgressing},
		"a change on the way that another one follows": {status: late, rollout: RolloutProgressing, isBetween: true, old: 2},
		"a step is under way":                          {status: status("Progressing", "b", "a", 4, 1, 3), rollout: RolloutProgressing, isBetween: true, old: 3},
		"between two steps":                            {status: status("Paused", "b", "a", 4, 2, 4), rollout: PodsNotReplaced, isBetween: true, old: 2},
		"paused by a person on the way":                {status: status("Paused", "b", "a", 4, 2, 4), spec: paused, rollout: PodsNotReplaced, isBetween: true, old: 2},
		"paused by a person with all pods":             {status: status("Paused", "a", "a", 3, 3, 3), spec: paused, rollout: RolloutComplete},
		"aborted":                                      {status: aborted, rollout: RolloutFailed, isBetween: true, old: 3},
		"past its deadline":                            {status: status("Degraded", "b", "a", 4, 1, 3), rollout: RolloutFailed, isBetween: true, old: 3},
		"new, and not up yet":                          {status: status("Progressing", "a", "", 3, 3, 1), rollout: RolloutProgressing},
		"one pod was lost":                             {status: status("Progressing", "a", "a", 3, 3, 2), rollout: RolloutUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			rollout := &argoRollout{Spec: test.spec, Status: test.status}
			rollout.Generation, rollout.Spec.Replicas = 2, ptr.To[int32](3)

			content, isOne := Read(rollout.object())

			require.True(t, isOne)
			require.Equal(t, test.rollout, content.Rollout)
			require.Equal(t, test.isBetween, content.IsBetween)
			require.Equal(t, test.old, content.Old)
			require.Equal(t, test.rollout == PodsNotReplaced, content.HeldReason != "")
			require.Equal(t, test.rollout == RolloutFailed, content.Advice != "")
		})
	}
}

// A Rollout is written with all fields that were read, including unknown ones.
func TestArgoRollout_KeepsUnknownFields(t *testing.T) {
	const text = `{"apiVersion":"argoproj.io/v1alpha1","kind":"Rollout","metadata":{"name":"cart"},` +
		`"spec":{"strategy":{"canary":{"steps":[{"setWeight":50},{"pause":{}}]}},"template":{"spec":{"containers":[{"name":"app","resources":{}}],"later":1},"metadata":{}}},` +
		`"status":{"currentStepIndex":1,"phase":"Paused"}}`
	rollout := &unstructured.Unstructured{}
	require.NoError(t, json.Unmarshal([]byte(text), rollout))
	require.Equal(t, "app", PodTemplate(rollout).Spec.Containers[0].Name)

	written, err := json.Marshal(rollout)
	require.NoError(t, err)
	require.JSONEq(t, text, string(written))

	SetFinishedStatus(rollout)
	require.Equal(t, map[string]any{
		"currentStepIndex": int64(1), "phase": "Healthy", "observedGeneration": "0",
		"replicas": int64(1), "updatedReplicas": int64(1), "availableReplicas": int64(1),
	}, rollout.Object["status"])
}

// The number of additional and unavailable pods depends on the canary or blue-green strategy of a Rollout.
func TestStrategyFor_ReadsArgoRolloutStrategy(t *testing.T) {
	of := func(strategy argoStrategy) Strategy {
		return StrategyFor((&argoRollout{Spec: argoRolloutSpec{Replicas: ptr.To[int32](8), Strategy: strategy}}).object())
	}
	require.Equal(t, Strategy{Surge: 2, Unavailable: 2}, of(argoStrategy{}))
	require.Equal(t, Strategy{Surge: 1, Unavailable: 0}, of(argoStrategy{Canary: &argoCanary{MaxSurge: ptr.To(intstr.FromInt32(1)), MaxUnavailable: ptr.To(intstr.FromInt32(0))}}))
	require.Equal(t, Strategy{Surge: 8}, of(argoStrategy{BlueGreen: &struct{}{}}))
}

// object returns a Rollout as it is read.
func (r *argoRollout) object() *unstructured.Unstructured {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(r)
	if err != nil {
		panic(err) // Its types can be converted.
	}
	object := &unstructured.Unstructured{Object: fields}
	object.SetGroupVersionKind(argoRolloutKind)
	return object
}

// recordedRollout is a Rollout whose pod template records a sidecar.
func recordedRollout(containers ...corev1.Container) *argoRollout {
	rollout := &argoRollout{}
	rollout.Annotations = map[string]string{
		"vectorsidecar.observability.kontroloop.ai/injected":            "true",
		"vectorsidecar.observability.kontroloop.ai/sidecar-name":        "logs",
		"vectorsidecar.observability.kontroloop.ai/injected-hash":       "1",
		"vectorsidecar.observability.kontroloop.ai/inject":              "true",
		"vectorsidecar.observability.kontroloop.ai/injected-hash.audit": "2",
		"team": "shop",
	}
	rollout.Spec.Template.Annotations = map[string]string{
		"vectorsidecar.observability.kontroloop.ai/injected-items.logs":  `{"manager":"vectorsidecar/logs","containers":["vector"],"volumes":["spool"],"labels":["scrape"]}`,
		"vectorsidecar.observability.kontroloop.ai/injected-items.audit": `{"manager":"vectorsidecar/audit","containers":["audit"]}`,
		"theirs": "1",
	}
	rollout.Spec.Template.Labels = map[string]string{"app": "cart", "scrape": "yes"}
	rollout.Spec.Template.Spec.Containers = append([]corev1.Container{{Name: "app"}}, containers...)
	return rollout
}

// The lists of a Rollout are atomic, so an annotation lists the items that the operator has injected.
func TestArgoRollout_ListsInjectedItemsInAnnotation(t *testing.T) {
	rollout := recordedRollout(corev1.Container{Name: "vector", Image: "v:1", Ports: []corev1.ContainerPort{{ContainerPort: 9598}}})
	view := NewView(rollout.object())
	logs, audit := view.Owned["vectorsidecar/logs"], view.Owned["vectorsidecar/audit"]

	require.Equal(t, []string{"vector"}, logs.Containers)
	require.Empty(t, logs.Volumes, "it is listed, and not there")
	require.Equal(t, []string{"spool"}, logs.Lost)
	require.Equal(t, []string{"scrape"}, logs.PodLabels)
	require.Equal(t, "1", logs.InjectedHash)
	require.True(t, logs.HasPlainAnnotations)
	require.False(t, logs.Unfinished)
	require.Equal(t, "2", audit.InjectedHash)
	require.False(t, audit.HasPlainAnnotations)
	require.True(t, audit.IsEmpty(), "an owner has taken its container out")
	require.Equal(t, []Trace{{Manager: "vectorsidecar/audit", Applied: true, Listed: true}, {Manager: "vectorsidecar/logs", Applied: true, Listed: true}}, ReadOwnership(rollout.object()).Traces)

	withDefault := recordedRollout(corev1.Container{Name: "vector", Image: "v:1", Ports: []corev1.ContainerPort{{ContainerPort: 9598, Protocol: corev1.ProtocolTCP}}})
	require.Equal(t, logs.Hash, NewView(withDefault.object()).Owned["vectorsidecar/logs"].Hash, "what the definition adds is no change")
	changed := recordedRollout(corev1.Container{Name: "vector", Image: "v:2", Ports: []corev1.ContainerPort{{ContainerPort: 9598}}})
	require.NotEqual(t, logs.Hash, NewView(changed.object()).Owned["vectorsidecar/logs"].Hash)

	rollout.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "vectorsidecar/logs", Operation: metav1.ManagedFieldsOperationUpdate}}
	require.True(t, NewView(rollout.object()).Owned["vectorsidecar/logs"].Unfinished, "its entry is trimmed after a write")
}

// The application owner applies the list of volumes, which removes the sidecar's volume. Its mount stays and still
// counts as injected.
func TestOwnedMounts_IncludeMountsWithoutVolume(t *testing.T) {
	rollout := recordedRollout(corev1.Container{Name: "vector", Image: "v:1"})
	app := &rollout.Spec.Template.Spec.Containers[0]
	before := TemplateDigest(&rollout.Spec.Template, NewView(rollout.object()).Owned)
	app.VolumeMounts = []corev1.VolumeMount{{Name: "spool", MountPath: "/srv/app/logs"}}
	view := NewView(rollout.object())

	require.Equal(t, []Mount{{Container: "app", VolumeMount: app.VolumeMounts[0]}}, view.OwnedMounts("vectorsidecar/logs"))
	require.NotContains(t, fmt.Sprint(view.Values()["containers"]), "/srv/app/logs", "templates do not take it for the application's")
	require.Equal(t, before, TemplateDigest(&rollout.Spec.Template, NewView(rollout.object()).Owned), "nor is it a change of the application's")

	rollout.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "spool"}}
	logs := NewView(rollout.object()).Owned["vectorsidecar/logs"]
	require.Equal(t, []string{"spool"}, logs.Volumes)
	require.Empty(t, logs.Lost)
}

// A Rollout with workloadRef has no pod template. The message names the referenced workload.
func TestArgoRollout_NamesReferencedWorkload(t *testing.T) {
	rollout := &argoRollout{Spec: argoRolloutSpec{WorkloadRef: &argoWorkloadRef{Kind: "Deployment", Name: "cart"}}, Status: argoRolloutStatus{Selector: "app=cart", WorkloadObservedGeneration: "4"}}
	content, isOne := Read(rollout.object())
	require.True(t, isOne)
	require.Equal(t, &Reference{Kind: "Deployment", Name: "cart", ObservedGeneration: 4}, content.Refers)
	require.Equal(t, map[string]string{"app": "cart"}, content.Selector.MatchLabels)
	require.Equal(t, "Deployment cart", NewView(rollout.object()).TemplateSource)
}

// For a Rollout, the body in the annotation has exactly the defaults that the CustomResourceDefinition adds.
func TestOverlay_RecordedBodyHasDefaults(t *testing.T) {
	overlay := Overlay{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{InitContainers: []corev1.Container{{
		Name:  "vector",
		Ports: []corev1.ContainerPort{{ContainerPort: 9598}, {ContainerPort: 53, Protocol: corev1.ProtocolUDP}},
		Env: []corev1.EnvVar{{Name: "A", Value: "1"}, {Name: "B", ValueFrom: &corev1.EnvVarSource{
			FileKeyRef: &corev1.FileKeySelector{VolumeName: "keys", Path: "b", Key: "b"},
		}}},
		LivenessProbe:  &corev1.Probe{ProbeHandler: corev1.ProbeHandler{GRPC: &corev1.GRPCAction{Port: 1}}},
		ReadinessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{}}},
	}}}}}
	text, err := json.Marshal(tree.MapAt(overlay.RecordedBody(nil), tree.Pod...)["initContainers"])
	require.NoError(t, err)
	require.JSONEq(t, `[{
		"name": "vector",
		"ports": [{"containerPort": 9598, "protocol": "TCP"}, {"containerPort": 53, "protocol": "UDP"}],
		"env": [{"name": "A", "value": "1"}, {"name": "B", "valueFrom": {"fileKeyRef": {"volumeName": "keys", "path": "b", "key": "b", "optional": false}}}],
		"livenessProbe": {"grpc": {"port": 1, "service": ""}},
		"readinessProbe": {"httpGet": {"port": 0}}
	}]`, string(text))
}
