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

// generatedSuffix replaces the parts of a pod's name that its controller generates, such as the hash of the template.
// It is constant, so that messages about the pod do not change.
const generatedSuffix = "preflight"

// DryRunPod returns a pod for a dry run. It has the fields that admission policies check as the workload's controller
// would create them: the template, the owner, the controller's labels, and the volumes for the claims of a StatefulSet.
func DryRunPod(object Object) *corev1.Pod {
	content := readContent(object)
	template := content.Template.DeepCopy()
	const longest = 63 // maximum length of a host name
	room := longest - len("-"+generatedSuffix)
	name := strings.TrimRight(object.GetName()[:min(len(object.GetName()), room)], "-.") + "-"
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: object.GetNamespace(), Name: name + generatedSuffix, GenerateName: name,
			Labels: template.Labels, Annotations: template.Annotations,
		},
		Spec: template.Spec,
	}
	if pod.Labels == nil {
		pod.Labels = map[string]string{}
	}
	setPodOwner(pod, object.GetName(), object, content.Kind.GroupVersionKind)
	if content.Kind.completePod != nil {
		content.Kind.completePod(pod, object)
	}
	addClaims(pod, content.Claims)
	return pod
}

// setCreatedOwner sets the pod's owner to the object that the workload's controller would create, such as a
// ReplicaSet.
func setCreatedOwner(pod *corev1.Pod, object Object, kind schema.GroupVersionKind) {
	setPodOwner(pod, pod.Name, object, kind)
}

// setPodOwner makes an object with a name and a kind the controller owner of the pod. It has the UID of the workload,
// because it does not exist.
func setPodOwner(pod *corev1.Pod, name string, object Object, kind schema.GroupVersionKind) {
	pod.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: kind.GroupVersion().String(), Kind: kind.Kind, Name: name, UID: object.GetUID(), Controller: ptr.To(true),
	}}
}

// addClaims adds the volumes for the claims of a StatefulSet to a pod, as the StatefulSet controller does. They
// replace volumes with the same names.
func addClaims(pod *corev1.Pod, claims []string) {
	for _, claim := range claims {
		pod.Spec.Volumes = slices.DeleteFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == claim })
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: claim, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim + "-" + pod.Name},
		}})
	}
}
