// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// halves are two files of one configuration: alone, each is an error. The second names the source of the first, misspelled if
// it is wrong.
const (
	half      = "sources:\n  app: {type: stdin}\n"
	otherHalf = "sinks:\n  out: {type: blackhole, inputs: [app]}\n"
)

// A configuration is split into two files, in each way in which Vector reads them. Its errors are found.
func TestDecide_ChecksConfigurationInTwoFiles(t *testing.T) {
	variable := func(name, value string) []corev1.EnvVar { return []corev1.EnvVar{{Name: name, Value: value}} }
	for name, test := range map[string]struct {
		// paths are those of the two files below /conf.
		paths [2]string
		texts [2]string
		args  []string
		env   []corev1.EnvVar
	}{
		"two flags":                      {args: []string{"--config", "/conf/a.yaml", "--config=/conf/b.yaml"}},
		"short flags":                    {args: []string{"-c", "/conf/a.yaml", "-c/conf/b.yaml"}},
		"one flag":                       {args: []string{"--config", "/conf/a.yaml,/conf/b.yaml"}},
		"the flag of a format":           {args: []string{"--config-yaml", "/conf/a.conf", "--config", "/conf/b.yaml"}, paths: [2]string{"a.conf", "b.yaml"}},
		"the flags of two formats":       {args: []string{"--config-toml=/conf/a", "--config-json=/conf/b"}, paths: [2]string{"a", "b"}, texts: [2]string{"[sources.app]\ntype = \"stdin\"\n", `{"sinks": {"out": {"type": "blackhole", "inputs": ["app"]}}}`}},
		"TOML without extension":         {args: []string{"-c", "/conf/a,/conf/b.yaml"}, paths: [2]string{"a", "b.yaml"}, texts: [2]string{"[sources.app]\ntype = \"stdin\"\n", otherHalf}},
		"a pattern":                      {args: []string{"--config", "/conf/*.yaml"}},
		"a pattern of directories":       {args: []string{"--config", "/conf/**/*.yaml"}, paths: [2]string{"x/a.yaml", "y/z/b.yaml"}},
		"a class":                        {args: []string{"--config", "/conf/[ab].yaml"}},
		"a directory":                    {args: []string{"--config-dir", "/conf"}},
		"a directory with a slash":       {args: []string{"--config-dir=/conf/"}},
		"a directory, short":             {args: []string{"-C", "/conf"}},
		"a file and a directory":         {args: []string{"-c", "/conf/a.yaml", "-C", "/conf/d"}, paths: [2]string{"a.yaml", "d/b.yaml"}},
		"two directories":                {args: []string{"-C", "/conf/c,/conf/d"}, paths: [2]string{"c/a.yaml", "d/b.yaml"}},
		"a pattern of config dirs":       {args: []string{"-C", "/conf/*"}, paths: [2]string{"c/a.yaml", "d/b.yaml"}},
		"a source in a directory":        {args: []string{"-C", "/conf"}, paths: [2]string{"sources/app.yaml", "b.yaml"}, texts: [2]string{"type: stdin\n", otherHalf}},
		"a sink in a directory":          {args: []string{"-C", "/conf"}, paths: [2]string{"a.yaml", "sinks/out.toml"}, texts: [2]string{half, "type = \"blackhole\"\ninputs = [\"app\"]\n"}},
		"both in directories":            {args: []string{"-C", "/conf"}, paths: [2]string{"sources/app.json", "sinks/out.yml"}, texts: [2]string{`{"type": "stdin"}`, "type: blackhole\ninputs: [app]\n"}},
		"one component in two files":     {args: []string{"-C", "/conf"}, paths: [2]string{"a.yaml", "b.yaml"}, texts: [2]string{half + "sinks:\n  out: {type: blackhole}\n", "sinks:\n  out: {inputs: [app]}\n"}},
		"the variable of files":          {env: variable("VECTOR_CONFIG_YAML", "/conf/a.yaml,/conf/b.yaml"), args: []string{"-q", "--config-toml=/conf/t.toml"}},
		"the variable of directories":    {env: variable("VECTOR_CONFIG_DIR", "/conf"), args: []string{"--config", "/conf/t.toml"}},
		"a variable in an argument":      {env: variable("DIR", "/conf"), args: []string{"--config-dir", "$(DIR)"}},
		"a file below the working place": {args: []string{"-c", "../conf/a.yaml", "-c", "conf/b.yaml"}},
	} {
		for _, input := range []string{"app", "ap"} {
			t.Run(name+", "+input, func(t *testing.T) {
				paths, texts := test.paths, test.texts
				if paths[0] == "" {
					paths = [2]string{"a.yaml", "b.yaml"}
				}
				if texts[0] == "" {
					texts = [2]string{half, otherHalf}
				}
				object := objects.NewConfigMap("shipping", "shop", "first.yaml", texts[0])
				object.Data["second"] = strings.Replace(texts[1], "app", input, 1)
				object.Data["third"] = "data_dir = \"/var/lib/vector\"\n"
				sidecar := logs().WithConfigMap("shipping", "first.yaml").Sidecar(func(s *v1alpha1.SidecarSpec) {
					s.Args, s.Env = test.args, test.env
					s.VolumeMounts = []corev1.VolumeMount{{Name: "conf", MountPath: "/conf"}}
				}).Build()
				items := []corev1.KeyToPath{{Key: "first.yaml", Path: paths[0]}, {Key: "second", Path: paths[1]}, {Key: "third", Path: "t.toml"}}
				sidecar.Spec.Volumes = []corev1.Volume{{Name: "conf", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
					LocalObjectReference: corev1.LocalObjectReference{Name: "shipping"}, Items: items,
				}}}}
				s := snapshot(t, sidecar, cart())
				s.ConfigMaps = only("shipping", object)

				decided := decide(t, s)

				if input == "app" {
					require.Nil(t, decided.Invalid)
					require.Empty(t, decided.Findings)
					return
				}
				require.NotNil(t, decided.Invalid)
				require.Contains(t, decided.Invalid.Message, `sinks.out.inputs[0]: unknown source, transform or output "ap"; did you mean "app"? (VSC211)`)
				require.Contains(t, decided.Invalid.Message, "ConfigMap shop/shipping second:")
			})
		}
	}
}

// The check reads the same files of a directory as Vector, in the same way.
func TestDecide_ReadsConfigDirectory(t *testing.T) {
	for name, test := range map[string]struct {
		files map[string]string
		says  string
	}{
		"all kinds": {files: map[string]string{
			"sources/app.yaml": "type: stdin", "transforms/one.yaml": "type: remap\ninputs: [app]\nsource: .a = 1", "sinks/out.yaml": "type: blackhole\ninputs: [one]",
			"enrichment_tables/t.yaml": "type: file\nfile: {path: /x.csv, encoding: {type: csv}}", "tests/a.yaml": "name: a\ninput: {insert_at: one, value: x}\noutputs: [{extract_from: one}]",
		}},
		"an id with a dot":                 {files: map[string]string{"sources/app.x.yaml": "type: stdin", "sinks/out.yaml": "type: blackhole\ninputs: [app.x]"}, says: "VSC203"},
		"a nested transform":               {files: map[string]string{"a.yaml": half, "transforms/r.yaml": "type: route\ninputs: [app]", "transforms/r/route.yaml": "a: 'true'", "sinks/out.yaml": "type: blackhole\ninputs: [r.a, r._unmatched]"}},
		"a nested source":                  {files: map[string]string{"a.yaml": half + otherHalf, "sources/x/y.yaml": "type: nothing"}},
		"a hidden directory":               {files: map[string]string{"a.yaml": half + otherHalf, "transforms/.x/y.yaml": "type: nothing"}},
		"a directory of another name":      {files: map[string]string{"a.yaml": half + otherHalf, "other/y.yaml": "nothing: at all"}},
		"a file of another extension":      {files: map[string]string{"a.yaml": half + otherHalf, "x.txt": "nothing"}},
		"a component that replaces":        {files: map[string]string{"a.yaml": half + otherHalf, "sinks/out.yaml": "type: console\ninputs: [app]\nencoding: {codec: json}"}},
		"the id in two directories":        {files: map[string]string{"sources/app.yaml": "type: stdin", "sinks/app.yaml": "type: blackhole\ninputs: [app]"}, says: "VSC205"},
		"a fault in a component":           {files: map[string]string{"sources/app.yaml": "type: stdin", "sinks/out.yaml": "type: console\ninputs: [app]\nencoding: {codec: jsn}"}, says: "VSC305"},
		"a text and a list":                {files: map[string]string{"a.yaml": half + "sinks:\n  out: {type: blackhole, inputs: [app]}\n", "b.yaml": "sinks:\n  out: {inputs: app}"}, says: "VSC104"},
		"options that may be either":       {files: map[string]string{"a.yaml": half + otherHalf + "timezone: local", "b.yaml": "timezone: UTC"}},
		"a whole configuration in sources": {files: map[string]string{"sources/a.yaml": half + otherHalf}, says: "VSC301"},
	} {
		t.Run(name, func(t *testing.T) {
			object := objects.NewConfigMap("shipping", "shop", "first.yaml", "")
			delete(object.Data, "first.yaml")
			object.Data["key.yaml"] = "unread: true"
			var items []corev1.KeyToPath
			for path, text := range test.files {
				key := strings.ReplaceAll(path, "/", "_")
				object.Data[key] = text + "\n"
				items = append(items, corev1.KeyToPath{Key: key, Path: path})
			}
			sidecar := logs().WithConfigMap("shipping", "key.yaml").Sidecar(func(s *v1alpha1.SidecarSpec) {
				s.Args = []string{"--config-dir", "/conf"}
				s.VolumeMounts = []corev1.VolumeMount{{Name: "conf", MountPath: "/conf"}}
			}).Build()
			sidecar.Spec.Volumes = []corev1.Volume{{Name: "conf", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
				LocalObjectReference: corev1.LocalObjectReference{Name: "shipping"}, Items: items,
			}}}}
			s := snapshot(t, sidecar, cart())
			s.ConfigMaps = only("shipping", object)

			decided := decide(t, s)

			if test.says == "" {
				require.Nil(t, decided.Invalid)
				return
			}
			require.NotNil(t, decided.Invalid)
			require.Contains(t, decided.Invalid.Message, test.says)
		})
	}
}

// The check rejects flags, variables and files with which Vector exits before it reads a configuration. It accepts
// values that are known only in the pod.
func TestDecide_ChecksVectorCommandLine(t *testing.T) {
	of := func(name string) corev1.EnvVar {
		return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "s"}, Key: "k"}}}
	}
	secret := corev1.Volume{Name: "own", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "s"}}}
	listed := *secret.DeepCopy()
	listed.Secret.Items = []corev1.KeyToPath{{Key: "k", Path: "k.yaml"}}
	for name, test := range map[string]struct {
		args    []string
		env     []corev1.EnvVar
		volumes []corev1.Volume
		says    string
	}{
		"a variable":                 {env: []corev1.EnvVar{{Name: "VECTOR_THREADS", Value: "two"}}, says: "sidecar.env: VECTOR_THREADS: \"two\" is not a valid value"},
		"an empty variable":          {env: []corev1.EnvVar{{Name: "VECTOR_WATCH_CONFIG"}}, says: "sidecar.env: VECTOR_WATCH_CONFIG: \"\" is not a valid value"},
		"a variable of a Secret":     {env: []corev1.EnvVar{of("VECTOR_THREADS")}},
		"a reference that is known":  {env: []corev1.EnvVar{{Name: "N", Value: "two"}, {Name: "VECTOR_THREADS", Value: "$(N)"}}, says: "VECTOR_THREADS: \"two\""},
		"a reference that is not":    {env: []corev1.EnvVar{of("N"), {Name: "VECTOR_THREADS", Value: "$(N)"}}},
		"a reference to nothing":     {env: []corev1.EnvVar{{Name: "VECTOR_THREADS", Value: "$(N)"}}, says: "VECTOR_THREADS: \"$(N)\""},
		"an escaped reference":       {env: []corev1.EnvVar{{Name: "N", Value: "2"}, {Name: "VECTOR_THREADS", Value: "$$(N)"}}, says: "VECTOR_THREADS: \"$(N)\""},
		"an argument":                {args: []string{"--no-such-flag"}, says: "sidecar.args: --no-such-flag: Vector does not have the flag"},
		"a slip of an argument":      {args: []string{"--thread=2"}, says: `did you mean "--threads"?`},
		"a flag and its variable":    {args: []string{"--no-graceful-shutdown-limit"}, env: []corev1.EnvVar{{Name: "VECTOR_GRACEFUL_SHUTDOWN_LIMIT_SECS", Value: "5"}}, says: "the flag cannot be set together with VECTOR_GRACEFUL_SHUTDOWN_LIMIT_SECS"},
		"no limit":                   {args: []string{"--no-graceful-shutdown-limit"}},
		"a file of a Secret":         {args: []string{"-c", "/own/k.yaml"}, volumes: []corev1.Volume{secret}},
		"a file that a Secret lists": {args: []string{"-c", "/own/k.yaml"}, volumes: []corev1.Volume{listed}},
		"a file that it does not":    {args: []string{"-c", "/own/x.yaml"}, volumes: []corev1.Volume{listed}, says: "--config"},
		"a directory of a Secret":    {args: []string{"-C", "/own"}, volumes: []corev1.Volume{listed}},
		"no directory":               {args: []string{"-C", "/nowhere"}, says: "the directory /nowhere does not exist in the container"},
	} {
		t.Run(name, func(t *testing.T) {
			sidecar := logs().WithInlineConfig(objects.VectorConfig("x")).Sidecar(func(s *v1alpha1.SidecarSpec) {
				s.Args, s.Env = test.args, test.env
				for _, volume := range test.volumes {
					s.VolumeMounts = append(s.VolumeMounts, corev1.VolumeMount{Name: volume.Name, MountPath: "/" + volume.Name})
				}
			}).Build()
			sidecar.Spec.Volumes = test.volumes

			decided := decide(t, snapshot(t, sidecar, cart()))

			if test.says == "" {
				require.Nil(t, decided.Invalid)
				return
			}
			require.NotNil(t, decided.Invalid)
			require.Contains(t, decided.Invalid.Message, strings.Replace(test.says, "--config", "-c: /own/x.yaml does not exist", 1))
		})
	}
}

// The validation by Vector uses all files of a configuration directory.
func TestDecide_ValidatesConfigDirectoryByVector(t *testing.T) {
	object := objects.NewConfigMap("shipping", "shop", "vector.yaml", "data_dir: /var/lib/vector\n")
	object.Data["app"], object.Data["out"] = "type: stdin\n", "type: blackhole\ninputs: [app]\n"
	sidecar := logs().WithConfigMap("shipping", "").Sidecar(func(s *v1alpha1.SidecarSpec) {
		s.Env = []corev1.EnvVar{{Name: "VECTOR_CONFIG_DIR", Value: "/conf"}}
		s.VolumeMounts = []corev1.VolumeMount{{Name: "conf", MountPath: "/conf"}}
		s.Config.ValidateJob = &v1alpha1.ValidateJobSpec{Enabled: new(true)}
	}).Build()
	items := []corev1.KeyToPath{{Key: "app", Path: "sources/app.yaml"}, {Key: "out", Path: "sinks/out.yaml"}}
	sidecar.Spec.Volumes = []corev1.Volume{{Name: "conf", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: "shipping"}, Items: items,
	}}}}
	s := snapshot(t, sidecar, cart())
	s.ConfigMaps = only("shipping", object)
	s.Verdict = said(decision.VerdictPending)

	decided := decide(t, s)

	require.Nil(t, decided.Invalid)
	require.Len(t, decided.Validations, 1)
	pod := decided.Validations[0].Job.Spec.Template.Spec
	require.Equal(t, []string{"/etc/vector-validate/0-vector.yaml", "--config-dir", "/etc/vector-validate/directory-0"}, pod.Containers[0].Args[len(pod.Containers[0].Args)-3:])
	require.NotContains(t, pod.Containers[0].Env, corev1.EnvVar{Name: "VECTOR_CONFIG_DIR", Value: "/conf"})
	volume := pod.Volumes[len(pod.Volumes)-1].ConfigMap
	require.Equal(t, []corev1.KeyToPath{{Key: "0-vector.yaml", Path: "0-vector.yaml"}, {Key: "1-app.yaml", Path: "directory-0/sources/app.yaml"}, {Key: "2-out.yaml", Path: "directory-0/sinks/out.yaml"}}, volume.Items)
	require.Len(t, decided.Validations[0].Files.Data, 3)
}
