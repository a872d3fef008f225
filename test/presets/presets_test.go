// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package presets

import (
	"flag"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	"sigs.k8s.io/yaml"

	"kontroloop.ai/vector-sidecar-operator/internal/scenario"
)

var update = flag.Bool("update", false, "rewrite the expectations")

const configFile = "vector.yaml"

// Every combination of presets renders without an error of the check or the API types.
func TestRender_AcceptsEveryPresetCombination(t *testing.T) {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	require.NoError(t, err)
	rendered := map[string][]rendering{}
	for _, c := range All(t) {
		t.Run(c.Name(), func(t *testing.T) {
			result := c.Render(t)
			config := strings.TrimSuffix(result.ConfigMap.Data[configFile], "\n") + "\n"
			rendered[c.Sink] = append(rendered[c.Sink], rendering{&c, config})

			requireRestricted(t, evaluator, &result.Deployment.Spec.Template)
			requireSecrets(t, &c, config, &result.Deployment.Spec.Template.Spec)
			requireNoTap(t, config, &result.Deployment.Spec.Template.Spec)
		})
	}
	for sink, all := range rendered {
		t.Run(sink, func(t *testing.T) { compare(t, sink, expectations(all)) })
	}
}

// rendering is the Vector configuration of a combination.
type rendering struct {
	of     *Combination
	config string
}

// expectations are the files of one sink's configurations. The first is there as a whole, each
// other one as its difference to the first of the same way in, or else to the first of all.
func expectations(all []rendering) []txtar.File {
	var files []txtar.File
	for i, one := range all {
		name := path.Join(one.of.Environment, one.of.Intake)
		sameIntake := slices.IndexFunc(all[:i], func(r rendering) bool { return r.of.Intake == one.of.Intake })
		if difference, isShorter := scenario.Differ(all[max(0, sameIntake)].config, one.config); i > 0 && isShorter {
			files = append(files, txtar.File{Name: name + ".diff", Data: []byte(difference)})
			continue
		}
		files = append(files, txtar.File{Name: name + ".yaml", Data: []byte(one.config)})
	}
	return files
}

// compare holds the configurations of one sink against its archive, or writes it.
func compare(t *testing.T, sink string, files []txtar.File) {
	t.Helper()
	archive := archiveOf(t, sink)
	require.NotEmpty(t, archive.Comment, "the first lines say what the sink is about")
	if *update {
		archive.Files = append(written(archive), files...)
		require.NoError(t, os.WriteFile("sinks/"+sink+".txtar", txtar.Format(archive), 0o644))
		return
	}
	expected := archive.Files[len(written(archive)):]
	require.Len(t, expected, len(files))
	for i, want := range expected {
		require.Equal(t, want.Name, files[i].Name)
		require.Equal(t, string(want.Data), string(files[i].Data), want.Name)
	}
}

func TestAll_ReturnsEachCombinationOfPresets(t *testing.T) {
	require.ElementsMatch(t, []string{"console", "vector", "http", "elasticsearch", "loki", "aws_s3", "kafka", "splunk_hec_logs"}, stems(t, "sinks"))
	require.ElementsMatch(t, []string{"files", "socket", "otlp"}, stems(t, "intakes"))
	require.Len(t, All(t), 8*3*3)
}

func requireRestricted(t *testing.T, evaluator policy.Evaluator, pod *corev1.PodTemplateSpec) {
	t.Helper()
	restricted := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
	verdict := policy.AggregateCheckResults(evaluator.EvaluatePod(restricted, &pod.ObjectMeta, &pod.Spec))
	require.True(t, verdict.Allowed, verdict.ForbiddenDetail())
}

// requireSecrets wants each Secret mounted where the configuration reads it.
func requireSecrets(t *testing.T, c *Combination, config string, pod *corev1.PodSpec) {
	t.Helper()
	secrets, _ := c.sidecar["secrets"].(map[string]any)
	for id, secret := range secrets {
		at := "/run/secrets/vector/" + id
		require.Contains(t, config, "path: "+at+"\n")
		require.Contains(t, config, "SECRET["+id+".")
		require.Equal(t, secret, secretAt(t, pod, at))
	}
}

// secretAt names the Secret that the sidecar mounts at a path.
func secretAt(t *testing.T, pod *corev1.PodSpec, at string) string {
	t.Helper()
	containers := slices.Concat(pod.InitContainers, pod.Containers)
	sidecar := slices.IndexFunc(containers, func(c corev1.Container) bool { return c.Name == "vector" })
	require.GreaterOrEqual(t, sidecar, 0)
	mounts := containers[sidecar].VolumeMounts
	mount := slices.IndexFunc(mounts, func(m corev1.VolumeMount) bool { return m.MountPath == at && m.ReadOnly })
	require.GreaterOrEqual(t, mount, 0, "nothing is mounted at %s", at)
	volume := slices.IndexFunc(pod.Volumes, func(v corev1.Volume) bool { return v.Name == mounts[mount].Name })
	require.GreaterOrEqual(t, volume, 0)
	require.NotNil(t, pod.Volumes[volume].Secret)
	return pod.Volumes[volume].Secret.SecretName
}

// requireNoTap finds Vector's API, which shows every event to whoever asks, on localhost
// only, and the kubelet at what shows none.
func requireNoTap(t *testing.T, config string, pod *corev1.PodSpec) {
	t.Helper()
	var read struct {
		API struct {
			Enabled bool
			Address string
		}
		Sinks map[string]struct{ Type, Address string }
	}
	require.NoError(t, yaml.Unmarshal([]byte(config), &read))
	require.True(t, read.API.Enabled, "kubectl port-forward reaches it")
	require.Equal(t, "127.0.0.1:8686", read.API.Address)
	asked := pod.InitContainers[0].LivenessProbe.HTTPGet
	require.Equal(t, "/metrics", asked.Path)
	for _, sink := range read.Sinks {
		if sink.Type == "prometheus_exporter" {
			require.Equal(t, "0.0.0.0:"+asked.Port.String(), sink.Address)
			return
		}
	}
	require.Fail(t, "nothing answers the probe")
}
