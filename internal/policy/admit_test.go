// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// The application has a volume with Secrets. A sidecar mounts it only if the policy allows that.
func TestCheckApplication_RejectsMountsOfSecretVolumes(t *testing.T) {
	for how, uses := range map[string]string{
		"mount at /v":      "volumeMounts: [{name: v, mountPath: /v}]",
		"device at /dev/v": "volumeDevices: [{name: v, devicePath: /dev/v}]",
		"variable TOKEN":   "env: [{name: TOKEN, valueFrom: {fileKeyRef: {volumeName: v, path: p, key: k}}}]",
	} {
		mounts := overlay(t, container(good+", "+uses))
		for source, allowed := range map[string]bool{"secret": false, "projected": false, "csi": false, "emptyDir": true, "configMap": true} {
			view := &workload.View{PodView: workload.PodView{Volumes: []workload.Volume{{Name: "v", Kind: source}, {Name: "w", Kind: "secret"}}}}
			err := parse(t, "").CheckApplication(view, mounts)
			require.NoError(t, parse(t, "volumes: {applicationSecrets: true}").CheckApplication(view, mounts))
			if allowed {
				require.NoError(t, err, source)
				continue
			}
			require.ErrorContains(t, err, `container "vector" has access to the application's volume "v" (`+how+")", source)
			require.ErrorContains(t, err, "volumes.applicationSecrets")
		}
	}
}

// The sidecar may delete files in volumes that end with the pod, and in other volumes only if the policy lists their
// kind.
func TestCheckCleanup_AllowsListedVolumeKinds(t *testing.T) {
	view := &workload.View{PodView: workload.PodView{
		Volumes: []workload.Volume{{Name: "a", Kind: "emptyDir"}, {Name: "b", Kind: "persistentVolumeClaim"}, {Name: "c", Kind: "hostPath"}, {Name: "d"}},
		Claims:  []string{"data"},
	}}
	for volume, kind := range map[string]string{"a": "", "d": "", "own": "", "b": "persistentVolumeClaim", "data": "persistentVolumeClaim", "c": "hostPath"} {
		err := parse(t, "").CheckCleanup(view, []string{"a", volume})
		if kind == "" {
			require.NoError(t, err, volume)
			require.Equal(t, volume != "own", parse(t, "volumes: {cleanup: []}").CheckCleanup(view, []string{volume}) != nil, volume)
			continue
		}
		require.ErrorContains(t, err, `the workload's own volume "`+volume+`", of kind `+kind+"; the platform allows emptyDir, ephemeral (policy.volumes.cleanup)")
		require.NoError(t, parse(t, "volumes: {cleanup: [emptyDir, "+kind+"]}").CheckCleanup(view, []string{"a", volume}))
	}
}

// A sidecar that uses a Secret of the application is rejected unless the policy allows it.
func TestCheckApplication_RejectsSecretsOfApplication(t *testing.T) {
	view := &workload.View{PodView: workload.PodView{Secrets: []string{"database", "tls"}}}
	for name, test := range map[string]struct {
		overlay string
		names   []string
	}{
		"one of the sidecar's": {volume("secret: {secretName: store}"), nil},
		"as a volume":          {volume("secret: {secretName: tls}"), []string{"template.spec.volumes[0].secret", `the application uses the Secret "tls", too`, "volumes.applicationSecrets"}},
		"of a driver":          {volume("csi: {driver: d, nodePublishSecretRef: {name: tls}}"), []string{"template.spec.volumes[0].csi.nodePublishSecretRef"}},
		"several": {container(good + ", envFrom: [{secretRef: {name: tls}}], env: [{name: A, valueFrom: {secretKeyRef: {name: database, key: k}}}]"), []string{
			"template.spec.containers[0].envFrom[0].secretRef", "template.spec.containers[0].env[0].valueFrom.secretKeyRef",
		}},
		"as variables of an init container": {"spec: {initContainers: [{name: prepare, envFrom: [{secretRef: {name: tls}}]}]}", []string{"template.spec.initContainers[0].envFrom[0].secretRef"}},
	} {
		t.Run(name, func(t *testing.T) {
			given := overlay(t, test.overlay)
			require.NoError(t, parse(t, "volumes: {applicationSecrets: true}").CheckApplication(view, given))
			err := parse(t, "").CheckApplication(view, given)
			if test.names == nil {
				require.NoError(t, err)
				return
			}
			for _, part := range test.names {
				require.ErrorContains(t, err, part)
			}
		})
	}
}

// The API server allows this mount propagation in a privileged container. The policy check rejects it for the sidecar.
func TestCheck_RejectsBidirectionalMountPropagation(t *testing.T) {
	both := corev1.MountPropagationBidirectional
	mounts := []workload.Mount{{Container: "app", VolumeMount: corev1.VolumeMount{Name: "v", MountPropagation: &both}}}
	given := overlay(t, volume("emptyDir: {}"))
	require.NoError(t, parse(t, "").Check(given, nil))
	require.ErrorContains(t, parse(t, "").Check(given, mounts), `mountPropagation Bidirectional of volume "v" in container "app" requires the Pod Security level privileged`)
	require.NoError(t, parse(t, "podSecurity: privileged").Check(given, mounts))
}
