// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package objects

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Deployment builds a Deployment. Make one with NewDeployment.
type Deployment struct{ object appsv1.Deployment }

// NewDeployment begins a Deployment of one replica with one container, "app".
func NewDeployment(name, namespace string) *Deployment {
	replicas := int32(1)
	labels := map[string]string{"app": short(name)}
	return &Deployment{appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "registry.example/app:1"}}},
			},
		},
	}}
}

// Labeled adds a label to the Deployment itself.
func (b *Deployment) Labeled(key, value string) *Deployment {
	metav1.SetMetaDataLabel(&b.object.ObjectMeta, key, value)
	return b
}

// Annotated adds an annotation to the Deployment itself.
func (b *Deployment) Annotated(key, value string) *Deployment {
	metav1.SetMetaDataAnnotation(&b.object.ObjectMeta, key, value)
	return b
}

// PodAnnotated adds an annotation to its pods.
func (b *Deployment) PodAnnotated(key, value string) *Deployment {
	metav1.SetMetaDataAnnotation(&b.object.Spec.Template.ObjectMeta, key, value)
	return b
}

// WithReplicas sets the number of replicas.
func (b *Deployment) WithReplicas(n int32) *Deployment {
	b.object.Spec.Replicas = &n
	return b
}

// WithContainer adds a container.
func (b *Deployment) WithContainer(name string) *Deployment {
	pod := b.pod()
	pod.Containers = append(pod.Containers, corev1.Container{Name: name, Image: "registry.example/" + name + ":1"})
	return b
}

// WithInitContainer adds an init container.
func (b *Deployment) WithInitContainer(name string) *Deployment {
	pod := b.pod()
	pod.InitContainers = append(pod.InitContainers, corev1.Container{Name: name, Image: "registry.example/" + name + ":1"})
	return b
}

// WithEmptyDir adds a volume and mounts it into the first container.
func (b *Deployment) WithEmptyDir(volume, path string) *Deployment {
	pod := b.pod()
	pod.Volumes = append(pod.Volumes, corev1.Volume{
		Name: volume, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}},
	})
	pod.Containers[0].VolumeMounts = append(pod.Containers[0].VolumeMounts, corev1.VolumeMount{Name: volume, MountPath: path})
	return b
}

// WithPort adds a port to the first container.
func (b *Deployment) WithPort(port int32) *Deployment {
	c := &b.pod().Containers[0]
	c.Ports = append(c.Ports, corev1.ContainerPort{ContainerPort: port})
	return b
}

// Paused pauses the Deployment.
func (b *Deployment) Paused() *Deployment {
	b.object.Spec.Paused = true
	return b
}

// Pod changes the rest of the pod.
func (b *Deployment) Pod(change func(*corev1.PodSpec)) *Deployment {
	change(b.pod())
	return b
}

// Build returns the object.
func (b *Deployment) Build() *appsv1.Deployment { return b.object.DeepCopy() }

func (b *Deployment) pod() *corev1.PodSpec { return &b.object.Spec.Template.Spec }

// short makes of a name what a label value may be.
func short(name string) string { return name[:min(len(name), 63)] }

// WithProgressDeadline sets the seconds after which a rollout counts as failed.
func (b *Deployment) WithProgressDeadline(seconds int32) *Deployment {
	b.object.Spec.ProgressDeadlineSeconds = &seconds
	return b
}

// Requests are resource requests without limits.
func Requests(cpu, memory string) *corev1.ResourceRequirements {
	return &corev1.ResourceRequirements{Requests: corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory),
	}}
}
