// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// mistake is one invalid input, and what the message must contain.
type mistake struct {
	// set replaces files of the default set.
	set map[string]string
	// values and policy are the installation's.
	values, policy string
	sidecar        func(*objects.VectorSidecar) *objects.VectorSidecar
	workload       func(*objects.Deployment) *objects.Deployment
	kubeVersion    string
	// raw are free values as they come from the API server, defaults those of the
	// namespace, and config is a ConfigMap of the user.
	raw      *apiextensionsv1.JSON
	defaults string
	config   *corev1.ConfigMap

	reason string
	names  []string
}

// snapshot is a snapshot with the mistake in it.
func (m *mistake) snapshot(t *testing.T) *Snapshot {
	t.Helper()
	builder, deployment := logs(), objects.NewDeployment("cart", "shop").Labeled("logs", "vector")
	if m.sidecar != nil {
		builder = m.sidecar(builder)
	}
	if m.workload != nil {
		deployment = m.workload(deployment)
	}
	sidecar := builder.Build()
	sets := map[string]map[string]string{}
	if m.set != nil {
		sidecar.Spec.TemplateSet, sets["own"] = "own", m.set
	}
	s := snapshot(t, sidecar, deployment.Build())
	s.Platform = given(t, map[string]string{"development.yaml": m.values, desired.PolicyKey: m.policy}, sets)
	if m.kubeVersion != "" {
		s.KubeVersion = m.kubeVersion
	}
	return s
}

// holds checks that the mistake is explained, and that nothing would be written.
func (m *mistake) holds(t *testing.T) {
	t.Helper()
	decided := decide(t, m.snapshot(t))
	var reason, message string
	switch {
	case decided.Invalid != nil:
		reason, message = decided.Invalid.Reason, decided.Invalid.Message
	case len(decided.Plans) > 0:
		reason, message = decided.Plans[0].Reason(), decided.Plans[0].Message()
	}
	require.Equal(t, m.reason, reason, message)
	for _, part := range m.names {
		require.Contains(t, message, part)
	}
	for i := range decided.Plans {
		require.False(t, decided.Plans[i].Writes())
	}
	require.Empty(t, decided.Missing)
}

// extra is a set with one more template.
func extra(text string) map[string]string { return map[string]string{"extra.yaml": text} }

// pods is a set with this spec in its PodTemplate.
func pods(spec string) map[string]string {
	return map[string]string{"podtemplate.yaml": "kind: PodTemplate\ntemplate:\n  spec: " + spec + "\n"}
}

func container(more string) map[string]string {
	return pods("{containers: [{name: vector, image: 'vector:1', " + more + "}]}")
}

const place = "vector-sidecar/templates/extra.yaml:"

func TestDecide_ReportsTemplateErrorsWithLocation(t *testing.T) {
	tests := map[string]mistake{
		"a parse error":          {set: extra("a\n{{ if }}"), reason: meta.ReasonInvalidTemplateSet, names: []string{`template set "own"`, place + "2", "missing value for if"}},
		"an unknown function":    {set: extra("{{ toYam 1 }}"), reason: meta.ReasonInvalidTemplateSet, names: []string{place + "1:4", `unknown function "toYam"`, `did you mean "toYaml"?`}},
		"the same define twice":  {set: extra(`{{ define "vector-sidecar.env" }}{{ end }}`), reason: meta.ReasonInvalidTemplateSet, names: []string{`template "vector-sidecar.env" is already defined at vector-sidecar/templates/_container.tpl:`}},
		"no such template":       {set: extra(`{{ include "vector-sidecar.envs" . }}`), reason: meta.ReasonInvalidTemplateSet, names: []string{place + "1", `unknown template "vector-sidecar.envs"`, `did you mean "vector-sidecar.env"?`}},
		"a set that is no chart": {set: map[string]string{"Chart.yaml": "x"}, reason: meta.ReasonInvalidTemplateSet, names: []string{"ConfigMap vector-system/own", "loading the sidecar chart"}},

		"an include of itself":     {set: extra("{{ define \"x\" }}{{ include \"x\" . }}{{ end }}\n{{ include \"x\" . }}"), names: []string{place + "1", "nested more than 100 deep"}},
		"a tpl of itself":          {set: extra("{{ $t := \"{{ tpl .t . }}\" }}{{ tpl $t (dict \"t\" $t) }}"), names: []string{place + "1", "nested more than 100 deep"}},
		"a long loop":              {set: extra("\n{{ range 1000000000 }}{{ end }}"), names: []string{place + "2", "steps"}},
		"a long list":              {set: extra("{{ until 100000000 }}"), names: []string{place + "1", "more than 50000 items"}},
		"loops in loops":           {set: extra("{{ range until 3000 }}{{ range until 3000 }}x{{ end }}{{ end }}"), names: []string{place + "1", "steps"}},
		"a text repeated":          {set: extra(`{{ repeat 1000000000 "x" }}`), names: []string{place + "1", "longer than"}},
		"an indent":                {set: extra(`{{ indent 1000000000 "x" }}`), names: []string{place + "1", "longer than"}},
		"a text that doubles":      {set: extra(`{{ $x := "x" }}{{ range until 100 }}{{ $x = print $x $x }}{{ end }}`), names: []string{place + "1", "longer than"}},
		"a list that doubles":      {set: extra(`{{ $x := list 1 }}{{ range until 100 }}{{ $x = concat $x $x }}{{ end }}`), names: []string{place + "1", "more than 50000 items"}},
		"a dict of itself":         {set: extra(`{{ $d := dict }}{{ $_ := set $d "d" $d }}{{ $d }}`), names: []string{place + "1", "the value contains itself"}},
		"a key that is not there":  {set: extra(`{{ .Values.sidecar.absentee.x }}`), names: []string{place + "1", `has no key "absentee"`}},
		"a key that is near":       {set: extra(`{{ .Values.sidecar.imag }}`), names: []string{place + "1", `did you mean "image"?`}},
		"fail":                     {set: extra(`{{ fail "ask the platform team" }}`), names: []string{"ask the platform team", place + "1"}},
		"required":                 {set: extra(`{{ required "values.team is missing" .Values.values.team }}`), names: []string{"values.team is missing", place + "1"}},
		"an index out of range":    {set: extra(`{{ index (list 1) 7 }}`), names: []string{place + "1", "7"}},
		"a bad regular expression": {set: extra(`{{ regexMatch "(" "x" }}`), names: []string{place + "1", "missing closing )"}},
		"an error in a text":       {set: extra(`{{ tpl "{{ .x.y }}" . }}`), names: []string{place + "1", "the argument of tpl, line 1"}},

		"a text":   {set: extra("hello"), reason: meta.ReasonInvalidSidecar, names: []string{"extra.yaml: rendered a string", `"hello"`}},
		"a list":   {set: extra("- a"), reason: meta.ReasonInvalidSidecar, names: []string{"extra.yaml: rendered a list"}},
		"nothing":  {set: map[string]string{"podtemplate.yaml": ""}, reason: meta.ReasonInvalidSidecar, names: []string{"no template renders a PodTemplate"}},
		"a Secret": {set: extra("kind: Secret"), reason: meta.ReasonInvalidSidecar, names: []string{"extra.yaml", "kind Secret is neither"}},
		"broken indentation": {
			set: extra("kind: ConfigMap\n{{ print \"x:\" }}\n  y: 1\n bad: {{ print 1 }}\n"), reason: meta.ReasonInvalidSidecar,
			names: []string{"extra.yaml: parsing the rendered YAML: line", `"  y: 1"`, "(written at " + place + "3)"},
		},
	}
	for _, name := range []string{"env", "getHostByName", "lookup", "genCA", "randAlphaNum", "uuidv4", "now", "htpasswd", "derivePassword", "expandenv"} {
		tests["the function "+name] = mistake{
			set: extra("\n  {{ " + name + ` "x" }}`), reason: meta.ReasonInvalidTemplateSet, names: []string{place + "2:6", `function "` + name + `" is not available because it `},
		}
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if test.reason == "" {
				test.reason = meta.ReasonInvalidTemplate
				test.names = append(test.names, `rendering for environment "development"`)
			}
			test.holds(t)
		})
	}
}

func TestDecide_ReportsInvalidValuesWithSource(t *testing.T) {
	const source = "ConfigMap vector-system/environments development.yaml"
	deep := "values: " + strings.Repeat("[", 10000) + strings.Repeat("]", 10000)
	bomb := "values:\n  a: &a [x, x, x, x, x, x, x, x, x]\n"
	for i := range 9 {
		from, to := string(rune('a'+i)), string(rune('b'+i))
		bomb += "  " + to + ": &" + to + " [" + strings.TrimSuffix(strings.Repeat("*"+from+", ", 9), ", ") + "]\n"
	}
	for name, test := range map[string]mistake{
		"an unknown key":          {values: "sidecar:\n  imagee: x\n", names: []string{source + ":2: sidecar.imagee: unknown key; did you mean image?"}},
		"a wrong type":            {values: "sidecar:\n  threads: many\n", names: []string{source + ":2: sidecar.threads: got string, want integer"}},
		"no YAML":                 {values: "sidecar:\n\tx: 1\n", names: []string{source, "line 2"}},
		"a key given twice":       {values: "sidecar: {}\nsidecar: {}\n", names: []string{source + ":2: duplicate key sidecar, first in line 1"}},
		"several documents":       {values: "sidecar: {}\n---\nsidecar: {}\n", names: []string{source, "second document"}},
		"a list at the top":       {values: "- sidecar\n", names: []string{source + ":1", "must be a map"}},
		"an alias bomb":           {values: bomb, names: []string{source, "with aliases replaced"}},
		"too much":                {values: "values: {x: " + strings.Repeat("x", 16<<20) + "}", names: []string{source, "bytes, more than the limit of"}},
		"too deep":                {values: deep, names: []string{source, "deep"}},
		"null over what it needs": {values: "sidecar: {image: null}", reason: meta.ReasonInvalidTemplate, names: []string{"sidecar.image is empty", "_container.tpl:"}},
		"no such environment": {
			sidecar: func(b *objects.VectorSidecar) *objects.VectorSidecar { return b.InEnvironment("prodution") },
			reason:  meta.ReasonUnknownEnvironment, names: []string{`environment "prodution" has no values`, "development, production, staging", `did you mean "production"?`},
		},
		"a ConfigMap that is missing": {
			sidecar: func(b *objects.VectorSidecar) *objects.VectorSidecar { return b.WithConfigMap("absent", "") },
			reason:  meta.ReasonConfigMapNotFound, names: []string{"ConfigMap shop/absent does not exist", "VectorSidecar shop/logs spec"},
		},
		"a ConfigMap and a text": {
			sidecar: func(b *objects.VectorSidecar) *objects.VectorSidecar {
				return b.WithInlineConfig("sources: {}").Sidecar(func(s *v1alpha1.SidecarSpec) { s.Config.ConfigMapRef = nil })
			},
			values: "sidecar: {config: {configMapRef: {name: shipping}}}",
			reason: meta.ReasonConfigMapNotFound, names: []string{"ConfigMap shop/shipping does not exist", source + ":1"},
		},
		"an empty selector": {
			sidecar: func(*objects.VectorSidecar) *objects.VectorSidecar { return objects.NewVectorSidecar("logs", "shop") },
			reason:  meta.ReasonInvalidSelector, names: []string{"spec.selector is empty and would match every workload", "spec.matchAll"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if test.reason == "" {
				test.reason = meta.ReasonInvalidValues
			}
			test.holds(t)
		})
	}
}

func TestDecide_RejectsInvalidRenderedPodTemplates(t *testing.T) {
	const at = "podtemplate.yaml: template.spec.containers[0]"
	restricted := "securityContext: {runAsNonRoot: true, runAsUser: 1, allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}, seccompProfile: {type: RuntimeDefault}}"
	for name, test := range map[string]mistake{
		"no image":               {set: pods("{containers: [{name: vector}]}"), names: []string{at + ".image"}},
		"an image with a blank":  {set: pods("{containers: [{name: vector, image: 'a b'}]}"), names: []string{at + `.image: "a b"`}},
		"no tag, where it must":  {set: pods("{containers: [{name: vector, image: 'vector', " + restricted + "}]}"), policy: "images: {requireTag: true}", reason: meta.ReasonPolicyViolation, names: []string{"template.spec.containers[0].image", "images.requireTag"}},
		"latest, where it must":  {set: pods("{containers: [{name: vector, image: 'vector:latest', " + restricted + "}]}"), policy: "images: {requireTag: true}", reason: meta.ReasonPolicyViolation, names: []string{"latest"}},
		"a volume of nothing":    {set: container("}], volumes: [{name: v"), names: []string{`volume "v" has no source`}},
		"two mounts at a path":   {set: container("volumeMounts: [{name: a, mountPath: /x}, {name: b, mountPath: /x}]"), names: []string{at + ".volumeMounts[1]", `"/x"`}},
		"a variable given twice": {set: container("env: [{name: A}, {name: A}]"), names: []string{at + ".env[1]", `"A"`}},
		"a number as a variable": {set: container("env: [{name: A, value: 1}]"), names: []string{"env", "value"}},
		"a text as arguments":    {set: container("args: --config"), names: []string{"args"}},
		"a bad quantity":         {set: container("resources: {limits: {cpu: lots}}"), names: []string{"quantit"}},
		"more than its limit":    {set: container("resources: {requests: {cpu: 2}, limits: {cpu: 1}}"), names: []string{at + ".resources", "the request of resource cpu is 2, which is above its limit 1"}},
		"no containers":          {set: pods("{containers: []}"), names: []string{"containers and initContainers are empty"}},
		"a native sidecar on an old server": {
			set: pods("{initContainers: [{name: vector, image: x, restartPolicy: Always}]}"), kubeVersion: "v1.28.4",
			names: []string{"template.spec.initContainers[0].restartPolicy", "v1.28.4", "sidecar.native"},
		},
		"the name of a container": {
			sidecar: func(b *objects.VectorSidecar) *objects.VectorSidecar { return b.Named("app") },
			reason:  meta.ReasonConflict, names: []string{`the workload already has a container "app"`},
		},
		"the name of a volume": {
			sidecar:  func(b *objects.VectorSidecar) *objects.VectorSidecar { return b.WithEmptyDir("spool", "/spool") },
			workload: func(b *objects.Deployment) *objects.Deployment { return b.WithEmptyDir("spool", "/spool") },
			reason:   meta.ReasonConflict, names: []string{`the workload already has a volume "spool"`},
		},
		"a mount of nothing": {
			sidecar: func(b *objects.VectorSidecar) *objects.VectorSidecar {
				return b.Sidecar(func(s *v1alpha1.SidecarSpec) {
					s.VolumeMounts = []corev1.VolumeMount{{Name: "nowhere", MountPath: "/x"}}
				})
			},
			reason: meta.ReasonBlocked, names: []string{`mounts a volume "nowhere" at /x`},
		},
		"a port in use": {
			workload: func(b *objects.Deployment) *objects.Deployment { return b.WithPort(9598) },
			reason:   meta.ReasonBlocked, names: []string{`port 9598 of container "vector" is already used by container "app"`},
		},
		"a label of the selector": {
			set:    map[string]string{"podtemplate.yaml": "kind: PodTemplate\ntemplate: {metadata: {labels: {app: other}}, spec: {containers: [{name: vector, image: x, " + restricted + "}]}}"},
			reason: meta.ReasonConflict, names: []string{`selector uses the label "app"`},
		},

		"hostNetwork":        {set: pods("{hostNetwork: true, containers: [{name: a, image: b}]}"), names: []string{"template.spec.hostNetwork", "belongs to the application"}},
		"a service account":  {set: pods("{serviceAccountName: admin, containers: [{name: a, image: b}]}"), names: []string{"template.spec.serviceAccountName"}},
		"hostPath":           {set: container(restricted + "}], volumes: [{name: v, hostPath: {path: /}"), reason: meta.ReasonPolicyViolation, names: []string{"podtemplate.yaml: rejected by the platform's policy: template.spec.volumes[0].hostPath", "volumes.kinds"}},
		"privileged":         {set: container("securityContext: {privileged: true}"), reason: meta.ReasonPolicyViolation, names: []string{"Pod Security level restricted", `privileged (container "vector"`}},
		"a capability":       {set: container("securityContext: {capabilities: {add: [SYS_ADMIN]}}"), reason: meta.ReasonPolicyViolation, names: []string{"securityContext.capabilities.add: capability SYS_ADMIN"}},
		"root that is not":   {set: container("securityContext: {runAsNonRoot: true, runAsUser: 0}"), reason: meta.ReasonPolicyViolation, names: []string{"runAsUser=0"}},
		"a probe elsewhere":  {set: container(restricted + ", livenessProbe: {tcpSocket: {host: 10.0.0.1, port: 22}}"), reason: meta.ReasonPolicyViolation, names: []string{"10.0.0.1"}},
		"a foreign audience": {set: container(restricted + "}], volumes: [{name: v, projected: {sources: [{serviceAccountToken: {path: t, audience: vault}}]}"), reason: meta.ReasonPolicyViolation, names: []string{"serviceAccountToken.audience", `"vault"`}},
		"a foreign annotation": {
			set:    map[string]string{"podtemplate.yaml": "kind: PodTemplate\ntemplate: {metadata: {annotations: {sidecar.istio.io/inject: 'false'}}, spec: {containers: [{name: vector, image: x, " + restricted + "}]}}"},
			reason: meta.ReasonPolicyViolation, names: []string{"template.metadata.annotations", "sidecar.istio.io/inject", "reservedDomains"},
		},
		"the application's secret": {
			workload: func(b *objects.Deployment) *objects.Deployment {
				return b.Pod(func(pod *corev1.PodSpec) {
					pod.Volumes = []corev1.Volume{{Name: "keys", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "keys"}}}}
				})
			},
			sidecar: func(b *objects.VectorSidecar) *objects.VectorSidecar {
				return b.Sidecar(func(s *v1alpha1.SidecarSpec) {
					s.VolumeMounts = []corev1.VolumeMount{{Name: "keys", MountPath: "/keys"}}
				})
			},
			reason: meta.ReasonPolicyViolation, names: []string{`container "vector"`, `volume "keys" (mount at /keys)`, "volumes.applicationSecrets"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if test.reason == "" {
				test.reason = meta.ReasonInvalidSidecar
			}
			test.holds(t)
		})
	}
}

// If a changed VectorSidecar is invalid, workloads keep the last valid sidecar.
func TestDecide_KeepsInjectedSidecarAfterInvalidChange(t *testing.T) {
	for name, test := range map[string]mistake{
		"a set":      {set: extra("{{ if }}")},
		"a template": {set: extra("{{ fail \"no\" }}")},
		"values":     {values: "sidecar: {imagee: x}"},
		"a policy":   {policy: "images: {requireDigest: true}"},
	} {
		t.Run(name, func(t *testing.T) {
			good := decide(t, snapshot(t, logs().Build(), cart())).Plans[0]
			s := test.snapshot(t)
			carried(s, &good)

			decided := decide(t, s)

			require.NotNil(t, decided.Invalid)
			require.Empty(t, decided.Obsolete, "its pods still read their companion")
			for i := range decided.Plans {
				require.Equal(t, plan.ActionBlocked, decided.Plans[i].Action())
			}
		})
	}
}
