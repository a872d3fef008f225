// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package objects builds the objects that tests speak of, in as few words as a
// test has about them. It knows no cluster.
package objects

import (
	"encoding/json"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
)

// VectorSidecar builds a VectorSidecar. Make one with NewVectorSidecar.
type VectorSidecar struct{ object v1alpha1.VectorSidecar }

// NewVectorSidecar begins a VectorSidecar that selects nothing yet. Its rollouts are
// done as soon as all pods are available: those who are not about soaking have no time
// for it.
func NewVectorSidecar(name, namespace string) *VectorSidecar {
	return &VectorSidecar{v1alpha1.VectorSidecar{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "VectorSidecar"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace},
		Spec:       v1alpha1.VectorSidecarSpec{Rollout: &v1alpha1.RolloutSpec{Soak: &metav1.Duration{}}},
	}}
}

// Selecting adds a label that a Deployment must have.
func (b *VectorSidecar) Selecting(key, value string) *VectorSidecar {
	metav1.AddLabelToSelector(&b.object.Spec.Selector, key, value)
	return b
}

// For sets the kinds of workloads.
func (b *VectorSidecar) For(kinds ...v1alpha1.WorkloadKind) *VectorSidecar {
	b.object.Spec.Workloads = kinds
	return b
}

// MatchingAll selects every Deployment of the namespace.
func (b *VectorSidecar) MatchingAll() *VectorSidecar {
	b.object.Spec.MatchAll = true
	return b
}

// Disabled sets spec.enabled to false.
func (b *VectorSidecar) Disabled() *VectorSidecar {
	enabled := false
	b.object.Spec.Enabled = &enabled
	return b
}

// InEnvironment names the environment.
func (b *VectorSidecar) InEnvironment(name string) *VectorSidecar {
	b.object.Spec.Environment = name
	return b
}

// FromSet names the template set.
func (b *VectorSidecar) FromSet(name string) *VectorSidecar {
	b.object.Spec.TemplateSet = name
	return b
}

// Named names the sidecar container.
func (b *VectorSidecar) Named(container string) *VectorSidecar {
	b.sidecar().Name = container
	return b
}

// WithImage sets the image.
func (b *VectorSidecar) WithImage(image string) *VectorSidecar {
	b.sidecar().Image = image
	return b
}

// WithLogs reads the files below a folder.
func (b *VectorSidecar) WithLogs(path string) *VectorSidecar {
	b.sidecar().Logs = &v1alpha1.LogsSpec{Path: path}
	return b
}

// WithInlineConfig gives the Vector configuration.
func (b *VectorSidecar) WithInlineConfig(text string) *VectorSidecar {
	b.sidecar().Config = &v1alpha1.ConfigSpec{Inline: text}
	return b
}

// WithConfigMap names the ConfigMap of the Vector configuration; an empty key
// leaves the default.
func (b *VectorSidecar) WithConfigMap(name, key string) *VectorSidecar {
	b.sidecar().Config = &v1alpha1.ConfigSpec{ConfigMapRef: &v1alpha1.ConfigMapRef{Name: name, Key: key}}
	return b
}

// WithEnv adds a variable.
func (b *VectorSidecar) WithEnv(name, value string) *VectorSidecar {
	b.sidecar().Env = append(b.sidecar().Env, corev1.EnvVar{Name: name, Value: value})
	return b
}

// WithEmptyDir adds a volume and mounts it into the sidecar.
func (b *VectorSidecar) WithEmptyDir(volume, path string) *VectorSidecar {
	b.object.Spec.Volumes = append(b.object.Spec.Volumes, corev1.Volume{
		Name: volume, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}},
	})
	b.sidecar().VolumeMounts = append(b.sidecar().VolumeMounts, corev1.VolumeMount{Name: volume, MountPath: path})
	return b
}

// WithMaxConcurrent paces the rollout: "3", or "100%".
func (b *VectorSidecar) WithMaxConcurrent(value string) *VectorSidecar {
	limit := intstr.Parse(value)
	b.object.Spec.Rollout.MaxConcurrent = &limit
	return b
}

// WithSoak sets for how long pods have to be available after a rollout; a negative time
// leaves it to the default.
func (b *VectorSidecar) WithSoak(soak time.Duration) *VectorSidecar {
	b.object.Spec.Rollout.Soak = &metav1.Duration{Duration: soak}
	if soak < 0 {
		b.object.Spec.Rollout.Soak = nil
	}
	return b
}

// WithRolloutPaused lets nothing new begin.
func (b *VectorSidecar) WithRolloutPaused() *VectorSidecar {
	b.object.Spec.Rollout.Paused = true
	return b
}

// Volumes adds volumes that nothing mounts.
func (b *VectorSidecar) Volumes(volumes ...corev1.Volume) *VectorSidecar {
	b.object.Spec.Volumes = append(b.object.Spec.Volumes, volumes...)
	return b
}

// WithInitContainer adds an init container, which passes the restricted level.
func (b *VectorSidecar) WithInitContainer(name, image string) *VectorSidecar {
	yes, no := true, false
	b.object.Spec.InitContainers = append(b.object.Spec.InitContainers, corev1.Container{Name: name, Image: image, SecurityContext: &corev1.SecurityContext{
		RunAsNonRoot: &yes, AllowPrivilegeEscalation: &no, Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}})
	return b
}

// WithValues sets the free values; they must marshal to JSON.
func (b *VectorSidecar) WithValues(values map[string]any) *VectorSidecar {
	text, err := json.Marshal(values)
	if err != nil {
		panic(err) // The test gave something that is no JSON.
	}
	b.object.Spec.Values = &apiextensionsv1.JSON{Raw: text}
	return b
}

// Sidecar changes the rest of spec.sidecar.
func (b *VectorSidecar) Sidecar(change func(*v1alpha1.SidecarSpec)) *VectorSidecar {
	change(b.sidecar())
	return b
}

// Build returns the object.
func (b *VectorSidecar) Build() *v1alpha1.VectorSidecar { return b.object.DeepCopy() }

func (b *VectorSidecar) sidecar() *v1alpha1.SidecarSpec {
	if b.object.Spec.Sidecar == nil {
		b.object.Spec.Sidecar = &v1alpha1.SidecarSpec{}
	}
	return b.object.Spec.Sidecar
}
