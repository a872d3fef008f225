// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/companion"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

const podTemplate = `apiVersion: v1
kind: PodTemplate
metadata: {name: x, namespace: shop}
template:
  spec:
    containers:
    - {name: vector, image: "vector:1", resources: {requests: {cpu: 0.5}}}
`

const configMap = `apiVersion: v1
kind: ConfigMap
metadata: {name: logs-vector-1, namespace: shop}
immutable: true
data: {vector.yaml: ""}
`

// try renders a chart of the given templates.
func try(t *testing.T, templates map[string]string) (*Result, error) {
	t.Helper()
	files := fstest.MapFS{
		"Chart.yaml":         {Data: []byte("apiVersion: v2\nname: own\nversion: 1.0.0\n")},
		"values.yaml":        {Data: []byte("sidecar: {}\n")},
		"values.schema.json": {Data: []byte(`{"type": "object"}`)},
		"values/qa.yaml":     {Data: []byte("{}\n")},
	}
	for name, text := range templates {
		files["templates/"+name] = &fstest.MapFile{Data: []byte(text)}
	}
	chart, err := LoadChart(files)
	require.NoError(t, err)
	values, err := chart.Environments.Values("qa")
	require.NoError(t, err)
	return Render(t.Context(), Request{
		Chart: chart, Values: values, KubeVersion: "v1.36.0",
		Sidecar: types.NamespacedName{Namespace: "shop", Name: "logs"},
	})
}

func TestRender_ReturnsOverlayAndCompanions(t *testing.T) {
	result, err := try(t, map[string]string{
		"pod.yaml": podTemplate, "config.yaml": configMap, "NOTES.txt": "kind: Nonsense", "blank.yaml": "\n# nothing\n", "_x.tpl": "{{ define \"x\" }}{{ end }}",
	})

	require.NoError(t, err)
	require.Equal(t, map[string]any{
		"metadata": map[string]any{"annotations": map[string]any{
			meta.AnnotationInjectedItems(meta.Manager("logs")): `{"manager":"vectorsidecar/logs","containers":["vector"]}`,
		}},
		"spec": map[string]any{"containers": []any{map[string]any{
			"name": "vector", "image": "vector:1", "resources": map[string]any{"requests": map[string]any{"cpu": "500m"}},
		}}},
	}, result.Overlay.Body, "what the templates say, in the API server's spelling, and a list of it")
	require.Len(t, result.Companions, 1)
}

// Each reference to a ConfigMap is replaced by one to its copy, in each form that a template set can write.
func TestRender_ReplacesConfigMapReferences(t *testing.T) {
	const text = `
kind: PodTemplate
template:
  metadata:
    annotations: {configMap: shipping}
  spec:
    initContainers:
      - {name: first, image: x, envFrom: [{configMapRef: {name: NAME}}, {configMapRef: {name: other}}], resources: {requests: {cpu: 0.5}}}
    containers:
      - {name: vector, image: x, env: [{name: A, valueFrom: {configMapKeyRef: {name: NAME, key: a}}}], ports: [{containerPort: 9598}]}
      - {name: app, volumeMounts: [{name: config, mountPath: /config}]}
    volumes:
      - {name: config, configMap: {name: NAME}}
      - {name: all, projected: {sources: [{configMap: {name: NAME}}, {configMap: {name: other}}]}}
`
	given, err := try(t, map[string]string{"pod.yaml": strings.ReplaceAll(text, "NAME", "shipping")})
	require.NoError(t, err)
	want, err := try(t, map[string]string{"pod.yaml": strings.ReplaceAll(text, "NAME", "copy")})
	require.NoError(t, err)

	got, err := given.Overlay.RedirectConfigMap("shipping", "copy")

	require.NoError(t, err)
	require.Equal(t, want.Overlay.Body, got.Body)
	require.True(t, equality.Semantic.DeepEqual(want.Overlay.Template, got.Template), "%+v", got.Template)
	require.Equal(t, want.Overlay.Mounts, got.Mounts)
	require.NotEqual(t, given.Overlay.Hash, got.Hash)
	require.Contains(t, companion.ReferencedConfigMaps(&given.Overlay.Template.Spec), "shipping", "the overlay itself stays")
}

// A rendered container has only volumeMounts. These are added to the application's container of that name.
func TestRender_TreatsMountOnlyContainerAsApplication(t *testing.T) {
	withMounts := func(containers string) string {
		return "kind: PodTemplate\nmetadata: {annotations: {" + meta.AnnotationWarning + ": no more than this}}\ntemplate: {spec: {containers: [{name: vector, image: x}, " +
			containers + "], volumes: [{name: logs, emptyDir: {}}]}}\n"
	}

	result, err := try(t, map[string]string{"pod.yaml": withMounts("{name: app, volumeMounts: [{name: logs, mountPath: /logs}]}")})
	require.NoError(t, err)
	other, err := try(t, map[string]string{"pod.yaml": withMounts("{name: app, volumeMounts: [{name: logs, mountPath: /log}]}")})
	require.NoError(t, err)

	require.Equal(t, []workload.Mount{{Container: "app", VolumeMount: corev1.VolumeMount{Name: "logs", MountPath: "/logs"}}}, result.Overlay.Mounts)
	require.Equal(t, "no more than this", result.Overlay.Warning)
	require.Len(t, result.Overlay.Template.Spec.Containers, 1)
	require.NotContains(t, fmt.Sprint(result.Overlay.Body), "mountPath", "applied, it would make us an owner of the container")
	require.NotEqual(t, other.Overlay.Hash, result.Overlay.Hash)
}

// Comments and the notation of quantities do not change the hash.
func TestRender_HashesContentNotFormat(t *testing.T) {
	one, err := try(t, map[string]string{"pod.yaml": podTemplate})
	require.NoError(t, err)
	other, err := try(t, map[string]string{"pod.yaml": "# a comment\n" + strings.Replace(podTemplate, "cpu: 0.5", `cpu: "500m"`, 1)})
	require.NoError(t, err)

	require.Equal(t, one.Overlay.Hash, other.Overlay.Hash, "another spelling starts no pods")
}

func TestRender_RejectsForbiddenFields(t *testing.T) {
	pod := func(spec string) string { return "kind: PodTemplate\ntemplate:\n  spec: " + spec + "\n" }
	container := func(more string) string { return pod("{containers: [{name: vector, image: x, " + more + "}]}") }
	for name, test := range map[string]struct {
		text  string
		names []string
	}{
		"a mount of the owner's volume":   {pod("{containers: [{name: a, image: x}, {name: app, volumeMounts: [{name: theirs, mountPath: /x}]}]}"), []string{`"app"`, `"theirs"`}},
		"an application of our name":      {pod("{initContainers: [{name: a, image: x}], containers: [{name: a, volumeMounts: [{name: v, mountPath: /x}]}], volumes: [{name: v, emptyDir: {}}]}"), []string{`"a"`, "initContainers[0]"}},
		"nothing":                         {"kind: PodTemplate\n", []string{"containers", "initContainers"}},
		"a template of nothing":           {"kind: PodTemplate\ntemplate: null\n", []string{"containers"}},
		"an empty list of containers":     {pod("{containers: []}"), []string{"containers"}},
		"a template that is a list":       {"kind: PodTemplate\ntemplate: []\n", []string{"template: not a map"}},
		"hostNetwork":                     {pod("{hostNetwork: true, containers: [{name: a, image: b}]}"), []string{"template.spec.hostNetwork", "belongs to the application"}},
		"serviceAccountName":              {pod("{serviceAccountName: x}"), []string{"template.spec.serviceAccountName"}},
		"the pod's security context":      {pod("{securityContext: {runAsUser: 0}}"), []string{"template.spec.securityContext"}},
		"tolerations":                     {pod("{tolerations: []}"), []string{"template.spec.tolerations"}},
		"a name for the pods":             {"kind: PodTemplate\ntemplate: {metadata: {name: x}}\n", []string{"template.metadata.name"}},
		"a field beside the template":     {"kind: PodTemplate\nspec: {}\n", []string{"spec: "}},
		"a field that does not exist":     {container("imagee: y"), []string{"template.spec.containers[0].imagee"}},
		"a key given twice":               {container("image: y"), []string{"image"}},
		"a wrong type":                    {container("args: --config"), []string{"args"}},
		"a number for a variable":         {container("env: [{name: A, value: 1}]"), []string{"env"}},
		"a bad quantity":                  {container("resources: {limits: {cpu: lots}}"), []string{"quantit"}},
		"broken YAML":                     {"kind: PodTemplate\ntemplate:\n  spec:\n   - a\n  b: [\n", []string{"line "}},
		"no image":                        {pod("{containers: [{name: vector}]}"), []string{"template.spec.containers[0].image"}},
		"an image with a blank":           {pod("{containers: [{name: vector, image: 'a b'}]}"), []string{"template.spec.containers[0].image", "a b"}},
		"no name":                         {pod("{initContainers: [{image: x}]}"), []string{"template.spec.initContainers[0].name"}},
		"one name for two containers":     {pod("{initContainers: [{name: a, image: x}], containers: [{name: a, image: x}]}"), []string{"template.spec.containers[0].name", "template.spec.initContainers[0]"}},
		"a variable given twice":          {container("env: [{name: A}, {name: A}]"), []string{"env[1]", `"A"`}},
		"two mounts at one path":          {container("volumeMounts: [{name: a, mountPath: /x}, {name: b, mountPath: /x}]"), []string{"volumeMounts[1]", "/x"}},
		"one path in two ways":            {container("volumeMounts: [{name: a, mountPath: /x/y}, {name: b, mountPath: /x//y/}]"), []string{"volumeMounts[1]", `duplicate mount at "/x/y"`}},
		"a mount that would hide another": {pod("{containers: [{name: a, image: x}, {name: app, volumeMounts: [{name: v, mountPath: /x/../y}]}], volumes: [{name: v, emptyDir: {}}]}"), []string{`container "app" gets a mount at path "/x/../y", which could hide an existing mount; write the path as "/y"`}},
		"one port for two listeners":      {container("ports: [{name: a, containerPort: 80}, {name: b, containerPort: 80, protocol: TCP}, {containerPort: 80, protocol: UDP}]"), []string{"ports[1]: duplicate port 80 of TCP"}},
		"a request above its limit":       {container("resources: {requests: {cpu: 2}, limits: {cpu: 1}}"), []string{"resources", "cpu"}},
		"a quantity out of proportion":    {container("resources: {requests: {cpu: 1e60000000}, limits: {cpu: 1}}"), []string{"template.spec.containers[0].resources.requests.cpu", "an exponent of at most 2 digits"}},
		"a quantity of many digits":       {container("resources: {limits: {cpu: '" + strings.Repeat("9", 500_000) + "'}}"), []string{"template.spec.containers[0].resources.limits.cpu: quantity 9999", "at most 64 characters"}},
		"a volume without a source":       {pod("{containers: [{name: a, image: x}], volumes: [{name: v}]}"), []string{"volumes[0]", `"v"`, "source"}},
		"a volume without a name":         {pod("{containers: [{name: a, image: x}], volumes: [{emptyDir: {}}]}"), []string{"volumes[0].name"}},
		"one name for two volumes":        {pod("{containers: [{name: a, image: x}], volumes: [{name: v, emptyDir: {}}, {name: v, emptyDir: {}}]}"), []string{"volumes[1].name", `"v"`}},
		"an annotation of the operator's": {"kind: PodTemplate\ntemplate: {metadata: {annotations: {vectorsidecar.observability.kontroloop.ai/injected: x}}, spec: {containers: [{name: a, image: x}]}}", []string{"template.metadata.annotations", "vectorsidecar.observability.kontroloop.ai/injected"}},
		"a text":                          {"hello\n", []string{"rendered a string", `"hello"`}},
		"a list":                          {"- a\n", []string{"rendered a list"}},
		"an object without a kind":        {"spec: {}\n", []string{"without a kind"}},
		"a second document that is bad":   {podTemplate + "---\nkind: Secret\n", []string{"Secret"}},
		"several faults, all of them":     {pod("{containers: [{image: x}, {name: a}]}"), []string{"containers[0].name", "containers[1].image"}},
		"a workload of its own":           {"kind: Deployment\n", []string{"Deployment"}},
		"a Secret":                        {"kind: Secret\n", []string{"Secret"}},
		"a companion without a name":      {strings.Replace(configMap, "name: logs-vector-1, ", "", 1), []string{"metadata.name"}},
		"a companion in another place":    {strings.Replace(configMap, "namespace: shop", "namespace: kube-system", 1), []string{"metadata.namespace", `"kube-system"`, `"shop"`}},
		"a companion that changes":        {strings.Replace(configMap, "immutable: true", "", 1), []string{"immutable"}},
		"a companion with a wrong field":  {configMap + "datta: {}\n", []string{"datta"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := try(t, map[string]string{"own.yaml": test.text})

			var invalid *SidecarError
			require.ErrorAs(t, err, &invalid)
			require.ErrorContains(t, err, "own/templates/own.yaml: ")
			for _, part := range test.names {
				require.ErrorContains(t, err, part)
			}
		})
	}
}

func TestRender_AcceptsSeveralDocumentsPerFile(t *testing.T) {
	result, err := try(t, map[string]string{"a.yaml": "---\n# first\n---\n" + podTemplate + "---\n" + configMap})

	require.NoError(t, err)
	require.Equal(t, "own/templates/a.yaml", result.Template)
	require.Len(t, result.Companions, 1)
}

// An error names the line in the template, because the author has never seen the rendered text.
func TestRender_NamesTemplateLineOfError(t *testing.T) {
	_, err := try(t, map[string]string{
		"pod.yaml":   "kind: PodTemplate\ntemplate:\n  spec:\n{{ include \"list\" . }}\n",
		"_parts.tpl": "{{ define \"list\" }}\n    containers:\n   image: {{ print \"x\" }}\n{{ end }}",
	})

	require.ErrorContains(t, err, "own/templates/pod.yaml: parsing the rendered YAML")
	require.ErrorContains(t, err, `"    containers:"`)
	require.ErrorContains(t, err, "(written at own/templates/_parts.tpl:2)")
}

func TestNewOverlay_RequiresAPIServerWithNativeSidecars(t *testing.T) {
	native := strings.Replace(podTemplate, "containers", "initContainers", 1)
	native = strings.Replace(native, "name: vector,", "name: vector, restartPolicy: Always,", 1)
	for version, ok := range map[string]bool{"v1.28.9": false, "v1.29.0": true, "v1.36.0-rc.1": true} {
		_, err := newOverlay(document(t, native), &Request{KubeVersion: version})
		if ok {
			require.NoError(t, err, version)
			continue
		}
		require.ErrorContains(t, err, "template.spec.initContainers[0].restartPolicy")
		require.ErrorContains(t, err, version)
		require.ErrorContains(t, err, "sidecar.native")
	}
}

func document(t *testing.T, text string) *bounded.Document {
	t.Helper()
	read, err := bounded.Rendering().ReadDocument([]byte(text))
	require.NoError(t, err)
	return read
}

// For any rendered text, the result is an error, or an overlay that only adds to the pod.
func FuzzOverlay(f *testing.F) {
	for _, text := range []string{
		podTemplate, "kind: PodTemplate\n", "", "[", "- x", "template: {spec: {hostNetwork: true}}", "template: {metadata: {name: x}}",
		"template: {spec: {containers: [{name: a, image: b, args: 1}]}}", "template: {spec: &a {containers: [*a]}}",
		"template: {spec: {containers: [{name: a, image: b, resources: {limits: {cpu: 1e400}}}]}}",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		read, err := bounded.Rendering().ReadDocument([]byte(text))
		if err != nil {
			return
		}
		overlay, err := newOverlay(read, &Request{KubeVersion: "v1.36.0"})
		if err != nil {
			return
		}
		require.NotEmpty(t, overlay.Hash)
		require.NoError(t, checkOnlyAdds(map[string]any{"template": overlay.Body}, ""))
		spec := overlay.Template.Spec
		require.NotEmpty(t, len(spec.Containers)+len(spec.InitContainers))
		spec.Containers, spec.InitContainers, spec.Volumes = nil, nil, nil
		require.Equal(t, corev1.PodSpec{}, spec, "a field that is its owner's")
		again, err := newOverlay(read, &Request{KubeVersion: "v1.36.0"})
		require.NoError(t, err)
		require.Equal(t, overlay, again)
	})
}

func TestRender_RejectsSecondPodTemplate(t *testing.T) {
	_, err := try(t, map[string]string{"a.yaml": podTemplate, "b.yaml": podTemplate})
	require.ErrorContains(t, err, "own/templates/b.yaml")
	require.ErrorContains(t, err, "own/templates/a.yaml")

	_, err = try(t, map[string]string{"a.yaml": configMap})
	require.ErrorContains(t, err, "no template renders a PodTemplate")
}

// An error in a template has its own type, because the user of the VectorSidecar cannot correct it.
func TestRender_ReturnsTypedTemplateError(t *testing.T) {
	_, err := try(t, map[string]string{"a.yaml": "{{ fail \"not like this\" }}"})

	var invalid *SidecarError
	require.NotErrorAs(t, err, &invalid)
	require.ErrorContains(t, err, "not like this")
	require.ErrorContains(t, err, "own/templates/a.yaml:1")
}
