// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/companion"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// shipping is a referenced ConfigMap whose configuration names a table.
func shipping(change func(*corev1.ConfigMap)) *corev1.ConfigMap {
	config := objects.VectorConfig("x") + "enrichment_tables: {teams: {type: file, file: {path: /etc/vector/teams.csv, encoding: {type: csv}}}}\n"
	object := objects.NewConfigMap("shipping", "shop", "vector.yaml", config)
	object.Data["teams.csv"], object.Data["notes.txt"] = "service,team\ncart,checkout\n", "unrelated"
	object.BinaryData = map[string][]byte{"geo.mmdb": {0xff}}
	change(object)
	return object
}

func asIs(*corev1.ConfigMap) {}

// copies decides with a referenced ConfigMap.
func copies(t *testing.T, sidecar *v1alpha1.VectorSidecar, object *corev1.ConfigMap) *decision.Decision {
	t.Helper()
	s := snapshot(t, sidecar, cart())
	s.ConfigMaps = only("shipping", object)
	return decide(t, s)
}

func TestDecide_CopiesOnlyRequiredConfigMapKeys(t *testing.T) {
	reading := func(options string) func(*corev1.ConfigMap) {
		return func(c *corev1.ConfigMap) {
			c.Data["vector.yaml"] = "sources: {own: {type: internal_logs}}\nsinks: {out: {type: blackhole, inputs: [own], graph: {node_attributes: {" + options + "}}}}\n"
		}
	}
	everything := []string{"geo.mmdb", "notes.txt", "teams.csv", "vector.yaml"}
	mounts := func(mount corev1.VolumeMount, items ...corev1.KeyToPath) func(*v1alpha1.VectorSidecar) {
		return func(vs *v1alpha1.VectorSidecar) {
			mount.Name = "mine"
			vs.Spec.Volumes = []corev1.Volume{{Name: "mine", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
				LocalObjectReference: corev1.LocalObjectReference{Name: "shipping"}, Items: items,
			}}}}
			vs.Spec.Sidecar.VolumeMounts = []corev1.VolumeMount{mount}
		}
	}
	for name, test := range map[string]struct {
		change  func(*corev1.ConfigMap)
		sidecar func(*v1alpha1.VectorSidecar)
		want    []string
	}{
		"a table":           {change: asIs, want: []string{"teams.csv", "vector.yaml"}},
		"nothing":           {change: reading("a: b"), want: []string{"vector.yaml"}},
		"binary data":       {change: reading("geo: /etc/vector/geo.mmdb"), want: []string{"geo.mmdb", "vector.yaml"}},
		"a key that is not": {change: reading("ca_file: /etc/vector/ca.crt"), want: []string{"vector.yaml"}},
		"a pattern":         {change: reading("files: /etc/vector/*.csv"), want: everything},
		"a folder as an argument": {change: reading("a: b"), want: everything, sidecar: func(vs *v1alpha1.VectorSidecar) {
			vs.Spec.Sidecar.Args = []string{"--config-dir", "/etc/vector"}
		}},
		"a folder above as an argument": {change: reading("a: b"), want: everything, sidecar: func(vs *v1alpha1.VectorSidecar) {
			vs.Spec.Sidecar.Args = []string{"--config-dir", "/etc"}
		}},
		"a pattern as a variable": {change: reading("a: b"), want: everything, sidecar: func(vs *v1alpha1.VectorSidecar) {
			vs.Spec.Sidecar.Env = []corev1.EnvVar{{Name: "VECTOR_CONFIG", Value: "/etc/vector/*.yaml"}}
		}},
		"configuration from elsewhere": {change: reading("a: b"), want: everything, sidecar: func(vs *v1alpha1.VectorSidecar) {
			vs.Spec.Sidecar.Args = []string{"--config", "/run/more.yaml"}
			vs.Spec.Sidecar.VolumeMounts = []corev1.VolumeMount{{Name: "more", MountPath: "/run"}}
			vs.Spec.Volumes = []corev1.Volume{{Name: "more", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
		}},
		"a variable of a key": {change: reading("a: b"), want: []string{"notes.txt", "vector.yaml"}, sidecar: func(vs *v1alpha1.VectorSidecar) {
			vs.Spec.Sidecar.Env = []corev1.EnvVar{{Name: "NOTES", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
				LocalObjectReference: corev1.LocalObjectReference{Name: "shipping"}, Key: "notes.txt",
			}}}}
		}},
		"variables of all keys": {change: reading("a: b"), want: everything, sidecar: func(vs *v1alpha1.VectorSidecar) {
			vs.Spec.Sidecar.EnvFrom = []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "shipping"}}}}
		}},
		"another mount":            {change: reading("file: /tables/notes.txt"), sidecar: mounts(corev1.VolumeMount{MountPath: "/tables"}), want: []string{"notes.txt", "vector.yaml"}},
		"a key under another name": {change: reading("a: b"), sidecar: mounts(corev1.VolumeMount{MountPath: "/tables"}, corev1.KeyToPath{Key: "notes.txt", Path: "n"}), want: []string{"notes.txt", "vector.yaml"}},
		"a key mounted alone":      {change: reading("a: b"), sidecar: mounts(corev1.VolumeMount{MountPath: "/notes", SubPath: "notes.txt"}), want: []string{"notes.txt", "vector.yaml"}},
		"a path that only the kubelet knows": {
			change: reading("a: b"), sidecar: mounts(corev1.VolumeMount{MountPath: "/tables", SubPathExpr: "$(NAME)"}), want: everything,
		},
		"a script of an init container": {change: reading("a: b"), want: everything, sidecar: func(vs *v1alpha1.VectorSidecar) {
			mounts(corev1.VolumeMount{MountPath: "/mine"})(vs)
			vs.Spec.InitContainers = []corev1.Container{{Name: "first", Image: "x", VolumeMounts: []corev1.VolumeMount{{Name: "mine", MountPath: "/mine"}}}}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			sidecar := logs().WithConfigMap("shipping", "").Build()
			if test.sidecar != nil {
				test.sidecar(sidecar)
			}
			object := shipping(test.change)

			decided := copies(t, sidecar, object)

			require.Nil(t, decided.Invalid)
			require.Len(t, decided.Companions, 1)
			made := decided.Companions[0]
			require.Equal(t, test.want, keysOf(&made))
			for key, text := range made.Data {
				require.Equal(t, object.Data[key], text)
			}
			require.Equal(t, []string{made.Name}, needed(t, &decided.Plans[0]), "nothing reads the ConfigMap itself")
			require.True(t, *made.Immutable)
			require.True(t, companion.IsLabeledFor(&made, sidecar))
		})
	}
}

// keysOf returns the sorted keys of a ConfigMap.
func keysOf(object *corev1.ConfigMap) []string {
	keys := slices.AppendSeq(slices.Collect(maps.Keys(object.Data)), maps.Keys(object.BinaryData))
	slices.Sort(keys)
	return keys
}

// needed returns the names of the ConfigMaps that the applied body refers to.
func needed(t *testing.T, p *plan.Plan) []string {
	t.Helper()
	text, err := json.Marshal(p.Write.Apply)
	require.NoError(t, err)
	var deployment appsv1.Deployment
	require.NoError(t, json.Unmarshal(text, &deployment))
	return slices.Compact(slices.Sorted(slices.Values(companion.ReferencedConfigMaps(&deployment.Spec.Template.Spec))))
}

func TestDecide_IgnoresChangesOfUncopiedConfigMapKeys(t *testing.T) {
	for _, reload := range []v1alpha1.ReloadMode{v1alpha1.ReloadRestart, v1alpha1.ReloadLive} {
		t.Run(string(reload), func(t *testing.T) {
			sidecar := logs().WithConfigMap("shipping", "").Build()
			sidecar.Spec.Sidecar.Reload = reload
			given := func(change func(*corev1.ConfigMap)) (name, hash string) {
				decided := copies(t, sidecar, shipping(change))
				return decided.Companions[0].Name, decided.Plans[0].Desired.InjectedHash()
			}
			name, hash := given(asIs)

			for _, unrelated := range []func(*corev1.ConfigMap){
				func(c *corev1.ConfigMap) { c.Labels, c.ResourceVersion = map[string]string{"a": "b"}, "9" },
				func(c *corev1.ConfigMap) { c.Data["notes.txt"] = "other" },
				func(c *corev1.ConfigMap) { c.Data["new"] = "x" },
				func(c *corev1.ConfigMap) { delete(c.BinaryData, "geo.mmdb") },
			} {
				sameName, sameHash := given(unrelated)
				require.Equal(t, name, sameName)
				require.Equal(t, hash, sameHash)
			}
			for _, related := range []func(*corev1.ConfigMap){
				func(c *corev1.ConfigMap) { c.Data["teams.csv"] = "service,team\n" },
				func(c *corev1.ConfigMap) { c.Data["vector.yaml"] += "# changed\n" },
			} {
				otherName, otherHash := given(related)
				require.Equal(t, reload == v1alpha1.ReloadLive, name == otherName)
				require.NotEqual(t, hash, otherHash)
			}
		})
	}
}

// With reload Live, the name of the companion is fixed, and the user's ConfigMap already has it. The companion gets
// another name.
func TestDecide_AvoidsNameOfSourceConfigMap(t *testing.T) {
	sidecar := logs().WithConfigMap("logs-vector", "").Build()
	sidecar.Spec.Sidecar.Reload = v1alpha1.ReloadLive
	s := snapshot(t, sidecar, cart())
	s.ConfigMaps = only("logs-vector", objects.NewConfigMap("logs-vector", "shop", "vector.yaml", objects.VectorConfig("x")))

	decided := decide(t, s)

	require.Nil(t, decided.Invalid)
	require.NotEqual(t, "logs-vector", decided.Companions[0].Name)
	require.False(t, *decided.Companions[0].Immutable)
}

func TestDecide_RejectsTooLargeCopyWithItsSize(t *testing.T) {
	const largestCopy = 1 << 20
	sized := func(n int) *decision.Decision {
		return copies(t, logs().WithConfigMap("shipping", "").Build(), shipping(func(c *corev1.ConfigMap) {
			c.Data["teams.csv"] = strings.Repeat("x", n-len(c.Data["vector.yaml"]))
			c.Data["notes.txt"] = strings.Repeat("x", largestCopy)
		}))
	}
	require.Nil(t, sized(largestCopy).Invalid)

	decided := sized(largestCopy + 1)

	require.NotNil(t, decided.Invalid)
	require.Equal(t, meta.ReasonInvalidConfig, decided.Invalid.Reason)
	require.Contains(t, decided.Invalid.Message, "ConfigMap shop/shipping: the sidecar needs 1048577 bytes of its content (teams.csv, vector.yaml)")
	require.False(t, decided.Plans[0].Writes())
}

// If the user's ConfigMap becomes invalid or is deleted, the running sidecar keeps its copy.
func TestDecide_KeepsCopyAfterConfigMapChange(t *testing.T) {
	s := snapshot(t, logs().WithConfigMap("shipping", "").Build(), cart())
	s.ConfigMaps = only("shipping", shipping(asIs))
	first := decide(t, s)
	carried(s, &first.Plans[0])
	s.Companions = written(first.Companions)
	for name, object := range map[string]*corev1.ConfigMap{
		"gone": nil,
		"bad":  shipping(func(c *corev1.ConfigMap) { c.Data["vector.yaml"] = "sources: {}" }),
	} {
		t.Run(name, func(t *testing.T) {
			s.ConfigMaps = only("shipping", object)

			decided := decide(t, s)

			require.NotNil(t, decided.Invalid)
			for i := range decided.Plans {
				require.False(t, decided.Plans[i].Writes())
			}
			require.Empty(t, decided.Obsolete)
			require.Empty(t, decided.Missing)
		})
	}
}
