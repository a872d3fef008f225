// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// Each case is a configuration that an earlier version of the policy check did not reject.
func TestDecide_RejectsPolicyBypasses(t *testing.T) {
	const (
		restricted = "securityContext: {runAsNonRoot: true, runAsUser: 1, allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}, seccompProfile: {type: RuntimeDefault}}"
		noSecrets  = "volumes: {kinds: [configMap, emptyDir, projected]}"
	)
	vector := func(more string) map[string]string { return container(restricted + more) }
	volume := func(source string) map[string]string { return vector("}], volumes: [{name: v, " + source) }
	annotated := func(key string) map[string]string {
		return map[string]string{"podtemplate.yaml": "kind: PodTemplate\ntemplate: {metadata: {annotations: {'" + key + "': x}}, spec: {containers: [{name: vector, image: x, " + restricted + "}]}}"}
	}
	// The application has the Secrets by every possible way.
	withSecrets := func(b *objects.Deployment) *objects.Deployment {
		return b.Pod(func(pod *corev1.PodSpec) {
			named := func(name string) corev1.LocalObjectReference { return corev1.LocalObjectReference{Name: name} }
			pod.ImagePullSecrets = []corev1.LocalObjectReference{named("registry")}
			pod.Volumes = []corev1.Volume{{Name: "keys", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "keys"}}}}
			pod.Containers[0].EnvFrom = []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: named("cart")}}}
			pod.InitContainers = []corev1.Container{{Name: "migrate", Image: "x", Env: []corev1.EnvVar{{
				Name: "PASSWORD", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: named("database"), Key: "k"}},
			}}}}
		})
	}
	for name, test := range map[string]mistake{
		"an image as a volume": {
			set: volume("image: {reference: 'evil.example/x:1'}"), policy: "images: {registries: [x]}",
			names: []string{"template.spec.volumes[0].image.reference", "evil.example/x:1", "images.registries"},
		},
		"an image without a tag as a volume": {
			set: volume("image: {reference: evil.example/x}"), policy: "images: {requireTag: true}",
			names: []string{"template.spec.volumes[0].image.reference", "images.requireTag"},
		},
		"a Secret in a projected volume": {
			set: volume("projected: {sources: [{secret: {name: s}}]}"), policy: noSecrets,
			names: []string{"template.spec.volumes[0].projected.sources[0].secret", "volumes.kinds"},
		},
		"a Secret as a variable": {
			set: vector(", env: [{name: A, valueFrom: {secretKeyRef: {name: s, key: k}}}]"), policy: noSecrets,
			names: []string{"template.spec.containers[0].env[0].valueFrom.secretKeyRef", "volumes.kinds"},
		},
		"a Secret as variables": {
			set: vector(", envFrom: [{secretRef: {name: s}}]"), policy: noSecrets,
			names: []string{"template.spec.containers[0].envFrom[0].secretRef", "volumes.kinds"},
		},
		"a ConfigMap as variables": {
			set: vector(", envFrom: [{configMapRef: {name: s}}]"), policy: "volumes: {kinds: [emptyDir]}",
			names: []string{"template.spec.containers[0].envFrom[0].configMapRef", "volumes.kinds"},
		},
		"a CSI driver": {
			set:   volume("csi: {driver: secrets-store.csi.k8s.io}"),
			names: []string{"template.spec.volumes[0].csi.driver", "secrets-store.csi.k8s.io", "the platform allows none", "volumes.csiDrivers"},
		},
		"a certificate": {
			set:   volume("projected: {sources: [{podCertificate: {signerName: a.example/b, keyType: ED25519}}]}"),
			names: []string{"template.spec.volumes[0].projected.sources[0].podCertificate", "volumes.kinds"},
		},
		"a trust bundle": {
			set:   volume("projected: {sources: [{clusterTrustBundle: {name: b, path: p}}]}"),
			names: []string{"template.spec.volumes[0].projected.sources[0].clusterTrustBundle", "volumes.kinds"},
		},
		"a device": {
			set:   vector(", resources: {limits: {example.com/gpu: 1}}"),
			names: []string{"template.spec.containers[0].resources.limits", "example.com/gpu", "(policy.devices)"},
		},
		"a device of the application's claim": {
			set:   vector(", resources: {claims: [{name: gpu}]}"),
			names: []string{"template.spec.containers[0].resources.claims", `"gpu"`, "(policy.devices)"},
		},
		"a network of Multus":     {set: annotated("k8s.v1.cni.cncf.io/networks"), names: []string{"template.metadata.annotations", "cni.cncf.io", "reservedDomains"}},
		"a role of kube2iam":      {set: annotated("iam.amazonaws.com/role"), names: []string{"template.metadata.annotations", "amazonaws.com", "reservedDomains"}},
		"devices of CRI-O":        {set: annotated("io.kubernetes.cri-o.Devices"), names: []string{"template.metadata.annotations", "io.kubernetes.cri-o.", "reservedDomains"}},
		"a later name of CRI-O's": {set: annotated("userns-mode.crio.io"), names: []string{"template.metadata.annotations", "crio.io", "reservedDomains"}},

		"the application's Secret in a volume of its own": {
			set: volume("secret: {secretName: database}"), workload: withSecrets,
			names: []string{"template.spec.volumes[0].secret", `the application uses the Secret "database", too`, "volumes.applicationSecrets"},
		},
		"the application's Secret as a variable": {
			set: vector(", env: [{name: A, valueFrom: {secretKeyRef: {name: keys, key: k}}}]"), workload: withSecrets,
			names: []string{"template.spec.containers[0].env[0].valueFrom.secretKeyRef", `Secret "keys"`, "volumes.applicationSecrets"},
		},
		"the application's Secret as variables": {
			set: vector(", envFrom: [{secretRef: {name: cart}}]"), workload: withSecrets,
			names: []string{"template.spec.containers[0].envFrom[0].secretRef", `Secret "cart"`, "volumes.applicationSecrets"},
		},
		"the application's credentials of a registry": {
			set: volume("projected: {sources: [{secret: {name: registry}}]}"), workload: withSecrets,
			names: []string{"template.spec.volumes[0].projected.sources[0].secret", `Secret "registry"`, "volumes.applicationSecrets"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			test.reason = meta.ReasonPolicyViolation
			test.holds(t)
		})
	}
}

// A stricter policy does not remove an injected sidecar. It applies when the sidecar changes.
func TestDecide_ChecksPolicyOnlyForChanges(t *testing.T) {
	const allowed = "volumes: {csiDrivers: [d.example], applicationSecrets: true}"
	volumes := map[string]corev1.Volume{
		"by the policy":                   {Name: "v", VolumeSource: corev1.VolumeSource{CSI: &corev1.CSIVolumeSource{Driver: "d.example"}}},
		"by the policy, of this workload": {Name: "v", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "database"}}},
	}
	for name, volume := range volumes {
		t.Run(name, func(t *testing.T) {
			application := objects.NewDeployment("cart", "shop").Labeled("logs", "vector").Pod(func(pod *corev1.PodSpec) {
				pod.Containers[0].EnvFrom = []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "database"}}}}
			}).Build()
			s := snapshot(t, logs().Volumes(volume).Build(), application)
			s.Platform = given(t, map[string]string{desired.PolicyKey: allowed}, nil)
			before := decide(t, s)
			require.Equal(t, plan.Inject, before.Plans[0].Change)
			carried(s, &before.Plans[0])
			s.Companions = written(before.Companions)

			s.Platform = given(t, map[string]string{desired.PolicyKey: ""}, nil)
			forbidden := decide(t, s)
			require.False(t, forbidden.Plans[0].StartsPods())
			require.Empty(t, forbidden.Obsolete, "its pods still read their companion")

			s.Sidecar.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: "warn"}
			changed := decide(t, s)
			require.Equal(t, plan.ActionBlocked, changed.Plans[0].Action())
			require.Equal(t, meta.ReasonPolicyViolation, changed.Plans[0].Reason())
			require.Empty(t, changed.Obsolete)
		})
	}
}
