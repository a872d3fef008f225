// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/test/fields"
)

// If a version of Kubernetes adds a field to pods, somebody has to add a line saying
// what gets in by it.
func TestEveryFieldOfAPodHasALine(t *testing.T) {
	all := fields.Below(reflect.TypeFor[corev1.PodTemplateSpec](), func(name string) bool {
		line := LineOf(name)
		return line == nil || !line.NotAllowed() // What is refused as a whole is refused with its fields.
	})
	counts, has := map[string]int{}, map[string]bool{}
	var missing []string
	for _, field := range all {
		line := LineOf(field.Name)
		has[field.Name] = true
		switch {
		case line == nil:
			missing = append(missing, field.Name+" ("+field.Paths[0]+")")
		case line.NotAllowed():
			counts["are the owner's"]++
		case line.Lets == Nothing, line.Lets == Part:
			counts["let in "+line.Lets]++
		default:
			counts["are judged"]++
		}
	}
	require.Empty(t, missing, "say in fields.go what gets into a pod by them, and which key judges it; or in rest.go that nothing does")
	for name := range lines {
		require.True(t, has[name], "there is no field %s", name)
	}
	t.Logf("%d fields of a pod template: %v", len(all), counts)
}

// A field has one line: a second one could contradict it.
func TestEveryLineIsOne(t *testing.T) {
	seen := map[string]bool{}
	note := func(field string) {
		require.False(t, seen[field], "%s has two lines", field)
		seen[field] = true
	}
	for _, group := range groups {
		for _, field := range strings.Fields(group.fields) {
			note(field)
		}
	}
	for _, rest := range []map[string]string{parts, harmless} {
		for of, names := range rest {
			for _, name := range strings.Fields(names) {
				note(of + "." + name)
			}
		}
	}
	require.Len(t, lines, len(seen))
}

// Types are identified by name alone.
func TestNoTwoTypesHaveOneName(t *testing.T) {
	known := map[string]reflect.Type{}
	var look func(of reflect.Type)
	look = func(of reflect.Type) {
		for slices.Contains([]reflect.Kind{reflect.Pointer, reflect.Slice, reflect.Map}, of.Kind()) {
			of = of.Elem()
		}
		if of.Kind() != reflect.Struct || known[of.Name()] == of || isOneValue(of) {
			return
		}
		require.Nil(t, known[of.Name()], of.Name())
		known[of.Name()] = of
		for i := range of.NumField() {
			look(of.Field(i).Type)
		}
	}
	look(reflect.TypeFor[corev1.PodTemplateSpec]())
}

func TestTheKeysOfTheLinesAreThoseOfThePolicy(t *testing.T) {
	var top node
	require.NoError(t, yaml.Unmarshal(schema, &top))
	keys := top.leaves("")
	judged := map[string]bool{}
	for _, line := range lines {
		for _, key := range line.Keys {
			require.Contains(t, keys, key, line.Field)
			judged[key] = true
		}
		require.Equal(t, line.Kind != "", slices.Contains(line.Keys, "volumes.kinds"), line.Field)
	}
	for _, key := range keys {
		// The level for init containers has a key of its own, and values and
		// configurations are no fields; what is removed from volumes is a configuration's, and
		// variables of the application are not in what is injected.
		others := []string{"podSecurityOfInitContainers", "volumes.cleanup", "applicationEnv"}
		if !slices.Contains(others, key) && !strings.HasPrefix(key, "overrides.") && !strings.HasPrefix(key, "vector.") {
			require.True(t, judged[key], "nothing is judged by %s", key)
		}
	}
}

// Every reference to a Secret is covered by the search for the application's Secrets.
func TestEverySecretOfAPodIsFound(t *testing.T) {
	var found []string
	each := func(spec *corev1.PodSpec) {
		workload.EachSecret(spec, func(use workload.SecretUse) {
			require.Equal(t, "s", use.Secret, use.At())
			found = append(found, use.At())
		})
	}
	s := corev1.LocalObjectReference{Name: "s"}
	each(&corev1.PodSpec{ImagePullSecrets: []corev1.LocalObjectReference{s}})
	for _, source := range []corev1.VolumeSource{
		{Secret: &corev1.SecretVolumeSource{SecretName: "s"}},
		{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{{}, {Secret: &corev1.SecretProjection{LocalObjectReference: s}}}}},
		{AzureFile: &corev1.AzureFileVolumeSource{SecretName: "s"}},
		{CSI: &corev1.CSIVolumeSource{NodePublishSecretRef: &s}},
		{FlexVolume: &corev1.FlexVolumeSource{SecretRef: &s}},
		{CephFS: &corev1.CephFSVolumeSource{SecretRef: &s}},
		{RBD: &corev1.RBDVolumeSource{SecretRef: &s}},
		{ISCSI: &corev1.ISCSIVolumeSource{SecretRef: &s}},
		{Cinder: &corev1.CinderVolumeSource{SecretRef: &s}},
		{ScaleIO: &corev1.ScaleIOVolumeSource{SecretRef: &s}},
		{StorageOS: &corev1.StorageOSVolumeSource{SecretRef: &s}},
		{EmptyDir: &corev1.EmptyDirVolumeSource{}},
	} {
		each(&corev1.PodSpec{Volumes: []corev1.Volume{{VolumeSource: source}}})
	}
	container := corev1.Container{
		EnvFrom: []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{}}, {SecretRef: &corev1.SecretEnvSource{LocalObjectReference: s}}},
		Env:     []corev1.EnvVar{{}, {ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: s}}}},
	}
	each(&corev1.PodSpec{InitContainers: []corev1.Container{container}, Containers: []corev1.Container{{}, container}})
	require.Equal(t, []string{
		"imagePullSecrets[0].name", "volumes[0].secret", "volumes[0].projected.sources[1].secret", "volumes[0].azureFile.secretName",
		"volumes[0].csi.nodePublishSecretRef", "volumes[0].flexVolume.secretRef", "volumes[0].cephfs.secretRef", "volumes[0].rbd.secretRef",
		"volumes[0].iscsi.secretRef", "volumes[0].cinder.secretRef", "volumes[0].scaleIO.secretRef", "volumes[0].storageos.secretRef",
		"initContainers[0].envFrom[1].secretRef", "initContainers[0].env[1].valueFrom.secretKeyRef",
		"containers[1].envFrom[1].secretRef", "containers[1].env[1].valueFrom.secretKeyRef",
	}, found)
	ways := map[string]bool{"imagePullSecrets": true}
	for field, line := range lines {
		if line.Lets == "a Secret" {
			_, name, _ := strings.Cut(field, ".")
			ways[name] = true
		}
	}
	for _, at := range found {
		part := strings.Split(at, ".")
		delete(ways, part[len(part)-1])
		delete(ways, strings.TrimSuffix(part[0], "[0]"))
	}
	require.Empty(t, ways)
}

// Fields of Go types that are not the API's have no line, and are not visited.
func TestQuantitiesAreValues(t *testing.T) {
	require.True(t, isOneValue(reflect.TypeFor[resource.Quantity]()))
	require.False(t, isOneValue(reflect.TypeFor[corev1.Container]()))
}
