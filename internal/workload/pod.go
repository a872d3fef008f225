// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
)

// madeUp replaces the values that a controller generates: the hash of a template, and the suffix of a name. It
// is constant, so that messages about the pod are stable.
const madeUp = "preflight"

// TrialPod returns a pod for a dry run, as the workload's controller would create it. It contains the fields
// that policies check: the template, the owner, the controller's labels, and the volumes of a StatefulSet's
// claims.
func TrialPod(of Object) *corev1.Pod {
	content := contentOf(of)
	template := content.Template.DeepCopy()
	const longest = 63 // maximum length of a host name
	room := longest - len("-"+madeUp)
	name := strings.TrimRight(of.GetName()[:min(len(of.GetName()), room)], "-.") + "-"
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: of.GetNamespace(), Name: name + madeUp, GenerateName: name,
			Labels: template.Labels, Annotations: template.Annotations,
		},
		Spec: template.Spec,
	}
	if pod.Labels == nil {
		pod.Labels = map[string]string{}
	}
	ownedBy(pod, of.GetName(), of, content.Kind.GroupVersionKind)
	if content.Kind.give != nil {
		content.Kind.give(pod, of)
	}
	addClaims(pod, content.Claims)
	return pod
}

// ownedByMade sets the object that the workload's controller would create as the owner of the pod.
func ownedByMade(pod *corev1.Pod, of Object, kind schema.GroupVersionKind) {
	ownedBy(pod, pod.Name, of, kind)
}

func ownedBy(pod *corev1.Pod, name string, of Object, kind schema.GroupVersionKind) {
	pod.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: kind.GroupVersion().String(), Kind: kind.Kind, Name: name, UID: of.GetUID(), Controller: ptr.To(true),
	}}
}

// addClaims adds the volumes of claims to a pod, as the StatefulSet controller does. They replace volumes of
// the same name.
func addClaims(pod *corev1.Pod, claims []string) {
	for _, claim := range claims {
		pod.Spec.Volumes = slices.DeleteFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == claim })
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: claim, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim + "-" + pod.Name},
		}})
	}
}
