// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

const source = "ConfigMap vector-system/environments policy"

// restricted is a container security context that passes the level.
const restricted = "securityContext: {runAsNonRoot: true, runAsUser: 65532, allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}, seccompProfile: {type: RuntimeDefault}}"

const good = "image: 'vector:1', " + restricted

func overlay(t *testing.T, text string) *corev1.PodTemplateSpec {
	t.Helper()
	var template corev1.PodTemplateSpec
	require.NoError(t, yaml.UnmarshalStrict([]byte(text), &template))
	return &template
}

func container(more string) string { return "spec: {containers: [{name: vector, " + more + "}]}" }

func volume(source string) string {
	return "spec: {containers: [{name: vector, " + good + "}], volumes: [{name: v, " + source + "}]}"
}

func parse(t *testing.T, text string) *Policy {
	t.Helper()
	p, err := Parse(source, []byte(text))
	require.NoError(t, err)
	return p
}

const digest = "@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// Each rule of the policy has cases in the table: overlays that it rejects, and similar ones that it accepts.
func TestCheck_AppliesEveryRule(t *testing.T) {
	loose, memory := "podSecurity: privileged\n", "volumes: {memorySizeLimit: 64Mi}"
	claim := func(spec string) string { return volume("ephemeral: {volumeClaimTemplate: {spec: {" + spec + "}}}") }
	mounted := func(source, resources string) string {
		return "spec: {volumes: [{name: v, " + source + "}], containers: [{name: vector, " + good + ", resources: {" + resources + "}, volumeMounts: [{name: v, mountPath: /v}]}]}"
	}
	for name, test := range map[string]struct {
		policy, overlay string
		names           []string
	}{
		"a restricted sidecar": {"", container(good), nil},
		"root": {"", container("image: x, securityContext: {runAsUser: 0}"), []string{
			"template.spec: does not pass the Pod Security level restricted", `container "vector"`, "runAsUser=0", "(policy.podSecurity)",
		}},
		"root, where it may":                 {loose, container("image: x, securityContext: {runAsUser: 0}"), nil},
		"less than restricted, where it may": {"podSecurity: baseline", container("image: x"), nil},
		"privileged":                         {"podSecurity: baseline", container("image: x, securityContext: {privileged: true}"), []string{"privileged"}},
		"a native sidecar as root":           {"", "spec: {initContainers: [{name: vector, image: x, restartPolicy: Always}]}", []string{`container "vector"`}},
		"a probe of another host":            {"", container(good + ", livenessProbe: {httpGet: {host: 169.254.169.254, port: 80}}"), []string{"probe", "169.254.169.254"}},

		"an init container that says nothing":       {"", "spec: {initContainers: [{name: prepare, image: x}]}", nil},
		"an init container that is privileged":      {"", "spec: {initContainers: [{name: prepare, image: x, securityContext: {privileged: true}}]}", []string{"level baseline", `container "prepare"`, "(policy.podSecurityOfInitContainers)"}},
		"an init container where more is asked for": {"podSecurityOfInitContainers: restricted", "spec: {initContainers: [{name: prepare, image: x}]}", []string{"level restricted", `container "prepare"`}},
		"both at fault": {"", "spec: {containers: [{name: vector, image: x}], initContainers: [{name: prepare, image: x, securityContext: {privileged: true}}]}", []string{`container "vector"`, `container "prepare"`}},

		"an image from the registry":   {"images: {registries: [registry.example/a]}", container("image: 'registry.example/a/vector:1', " + restricted), nil},
		"an image from elsewhere":      {"images: {registries: [registry.example/a]}", container("image: 'registry.example/ab/vector:1', " + restricted), []string{"template.spec.containers[0].image", "registry.example/a", "images.registries"}},
		"an image without a digest":    {"images: {requireDigest: true}", container(good), []string{"no digest", "images.requireDigest"}},
		"an image with one":            {"images: {requireDigest: true, requireTag: true}", container("image: 'vector" + digest + "', " + restricted), nil},
		"the tag latest":               {"images: {requireTag: true}", container("image: 'registry.example:5000/vector:latest', " + restricted), []string{"latest", "images.requireTag"}},
		"no tag, and a port":           {"images: {requireTag: true}", container("image: 'registry.example:5000/vector', " + restricted), []string{"no tag"}},
		"a tag":                        {"images: {requireTag: true}", container("image: 'registry.example:5000/vector:1', " + restricted), nil},
		"a parent directory":           {"images: {registries: [docker.io/timberio]}", container("image: 'docker.io/timberio/../evil/x:1', " + restricted), []string{"template.spec.containers[0].image", "not a valid reference"}},
		"a repository":                 {"images: {registries: [docker.io/timberio/vector]}", container("image: 'docker.io/timberio/vector:1', " + restricted), nil},
		"a port that is a tag":         {"images: {registries: [registry.example]}", container("image: 'registry.example:5000/vector:1', " + restricted), []string{"registry that is not allowed"}},
		"a short name":                 {"images: {registries: [docker.io/library]}", container("image: vector, " + restricted), []string{"registry that is not allowed"}},
		"an address":                   {"", container("image: 'https://docker.io/timberio/vector', " + restricted), []string{"not a valid reference"}},
		"letters that are not allowed": {"", container("image: timberio/Vector, " + restricted), []string{"not a valid reference"}},
		"a digest alone":               {"", container("image: 'sha256:0123', " + restricted), nil},
		"a bad image of a volume":      {"", volume("image: {reference: a/../b}"), []string{"template.spec.volumes[0].image.reference", "not a valid reference"}},

		"a container that restarts itself": {"", container(good + ", restartPolicyRules: [{action: Restart, exitCodes: {operator: In, values: [1]}}]"), nil},
		"a container that restarts all":    {"podSecurity: privileged", container(good + ", restartPolicyRules: [{action: RestartAllContainers}]"), []string{"restartPolicyRules[0].action", "RestartAllContainers", "no policy allows it"}},

		"a claim from a snapshot":                {"volumes: {kinds: [ephemeral]}", claim("dataSource: {kind: VolumeSnapshot, name: s}"), []string{"spec.dataSource", "persistentVolumeClaim", "volumes.kinds"}},
		"a claim from a populator":               {"volumes: {kinds: [ephemeral]}", claim("dataSourceRef: {kind: PersistentVolumeClaim, name: s}"), []string{"spec.dataSourceRef", "persistentVolumeClaim"}},
		"a claim from a snapshot where it may":   {"", claim("dataSource: {kind: VolumeSnapshot, name: s}"), nil},
		"a claim from another namespace":         {loose, claim("dataSourceRef: {kind: PersistentVolumeClaim, name: s, namespace: other}"), []string{"dataSourceRef.namespace", "no policy allows it"}},
		"a claim on a volume":                    {loose, claim("volumeName: pv-1"), []string{"spec.volumeName", "no policy allows it"}},
		"a claim on volumes with certain labels": {loose, claim("selector: {matchLabels: {a: b}}"), []string{"spec.selector", "no policy allows it"}},

		"memory without a policy":           {"", volume("emptyDir: {medium: Memory}"), nil},
		"memory that nothing mounts":        {memory, volume("emptyDir: {medium: Memory}"), []string{"without a sizeLimit"}},
		"memory within the limit":           {memory, volume("emptyDir: {medium: Memory, sizeLimit: 64Mi}"), nil},
		"memory above the limit":            {memory, volume("emptyDir: {medium: Memory, sizeLimit: 65Mi}"), []string{"volumes[0].emptyDir.sizeLimit", "65Mi (from sizeLimit)", "allows 64Mi", "volumes.memorySizeLimit"}},
		"disk above the limit":              {memory, volume("emptyDir: {sizeLimit: 65Mi}"), nil},
		"memory without a limit":            {memory, mounted("emptyDir: {medium: Memory}", ""), []string{"without a sizeLimit"}},
		"memory of size zero":               {memory, mounted("emptyDir: {medium: Memory, sizeLimit: 0}", ""), []string{"without a sizeLimit"}},
		"memory within those of containers": {memory, mounted("emptyDir: {medium: Memory}", "limits: {memory: 64Mi}"), nil},
		"memory above those of containers":  {memory, mounted("emptyDir: {medium: Memory}", "limits: {memory: 1Gi}"), []string{"1Gi (from the sum of the memory limits"}},

		"hostPath":                     {"", volume("hostPath: {path: /}"), []string{"template.spec.volumes[0].hostPath", `"v"`, "emptyDir", "volumes.kinds"}},
		"hostPath, where it may":       {loose + "volumes: {kinds: [hostPath]}", volume("hostPath: {path: /}"), nil},
		"hostPath at a stricter level": {"volumes: {kinds: [hostPath]}", volume("hostPath: {path: /}"), []string{"podSecurity", "hostPath"}},
		"a kind that is not listed":    {"volumes: {kinds: [emptyDir]}", volume("secret: {secretName: s}"), []string{"template.spec.volumes[0].secret", "the platform allows emptyDir"}},
		"no kind at all":               {"volumes: {kinds: []}", volume("emptyDir: {}"), []string{"the platform allows none"}},
		"a token of the API server's":  {"", volume("projected: {sources: [{serviceAccountToken: {path: t}}]}"), nil},
		"a token for somebody else":    {"", volume("projected: {sources: [{serviceAccountToken: {path: t, audience: vault}}]}"), []string{"projected.sources[0].serviceAccountToken.audience", `"vault"`, "volumes.tokenAudiences"}},
		"a token for whom it may":      {"volumes: {tokenAudiences: [vault]}", volume("projected: {sources: [{serviceAccountToken: {path: t, audience: vault}}]}"), nil},
		"a capability":                 {"podSecurity: baseline", container("image: x, securityContext: {capabilities: {add: [CHOWN]}}"), []string{"capabilities.add", "CHOWN", "the platform allows none"}},
		"a capability that it may":     {"podSecurity: baseline\ncapabilities: [CHOWN]", container("image: x, securityContext: {capabilities: {add: [CHOWN]}}"), nil},
		"a user below":                 {"users: {min: 70000}", container(good), []string{"runAsUser", "65532", "70000", "users.min"}},
		"a user above":                 {"users: {max: 1000}", container(good), []string{"runAsUser", "users.max"}},
		"a user within":                {"users: {min: 1000, max: 70000}", container(good), nil},
		"no user":                      {loose + "users: {min: 1}", container("image: x"), []string{"runAsUser", "runAsUser is not set"}},

		"another controller's annotation": {"", "metadata: {annotations: {sidecar.istio.io/inject: 'false'}}\n" + container(good), []string{"template.metadata.annotations", "sidecar.istio.io/inject", "istio.io"}},
		"another controller's label":      {"", "metadata: {labels: {kubernetes.io/x: y}}\n" + container(good), []string{"template.metadata.labels", "kubernetes.io/x"}},
		"one's own annotation":            {"", "metadata: {annotations: {prometheus.io/scrape: 'true', plain: x, notistio.io/x: y}}\n" + container(good), nil},
		"a domain that is not reserved":   {"reservedDomains: [example.com]", "metadata: {annotations: {sidecar.istio.io/inject: 'false'}}\n" + container(good), nil},

		"volumes of the sidecar that may be lost with a node": {"", "metadata: {annotations: {cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes: 'v,vectorsidecar-audit-data'}}\n" + volume("emptyDir: {}"), nil},
		"a volume of the application's that may":              {"", "metadata: {annotations: {cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes: 'v,cache'}}\n" + volume("emptyDir: {}"), []string{"safe-to-evict-local-volumes", "domain kubernetes.io"}},
		"no volume that may":                                  {"", "metadata: {annotations: {cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes: ''}}\n" + volume("emptyDir: {}"), []string{"safe-to-evict-local-volumes"}},
		"the same as a label":                                 {"", "metadata: {labels: {cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes: v}}\n" + volume("emptyDir: {}"), []string{"template.metadata.labels"}},
		"the whole pod":                                       {"", "metadata: {annotations: {cluster-autoscaler.kubernetes.io/safe-to-evict: 'true'}}\n" + container(good), []string{"domain kubernetes.io"}},
		"volumes, where the very domain is reserved":          {"reservedDomains: [cluster-autoscaler.kubernetes.io]", "metadata: {annotations: {cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes: v}}\n" + volume("emptyDir: {}"), []string{"the domain cluster-autoscaler.kubernetes.io"}},

		"several at once": {"images: {requireDigest: true}", volume("hostPath: {path: /}"), []string{"requireDigest", "hostPath"}},
	} {
		t.Run(name, func(t *testing.T) {
			err := parse(t, test.policy).Check(overlay(t, test.overlay), nil)
			if test.names == nil {
				require.NoError(t, err)
				return
			}
			require.Error(t, err)
			for _, part := range test.names {
				require.ErrorContains(t, err, part)
			}
		})
	}
}

func TestParse_ReportsInvalidPolicy(t *testing.T) {
	for name, test := range map[string]struct {
		text  string
		names []string
	}{
		"a wrong size":         {"volumes:\n  memorySizeLimit: 1Zi", []string{"policy:2: volumes.memorySizeLimit"}},
		"a wrong key":          {"images:\n  registrys: []", []string{"policy:2: images.registrys", "did you mean registries?"}},
		"a level that is none": {"podSecurity: strict", []string{"policy:1: podSecurity", "'restricted'"}},
		"a wrong type":         {"capabilities: all", []string{"policy:1: capabilities", "want array"}},
		"no YAML":              {"images: [", []string{source}},
		"users of none":        {"users: {min: 2, max: 1}", []string{"policy:1", "users.min 2 exceeds users.max 1"}},
		"a path that is none":  {"overrides: {workloads: ['sidecar..x']}", []string{"overrides.workloads"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse(source, []byte(test.text))
			require.Error(t, err)
			for _, part := range test.names {
				require.ErrorContains(t, err, part)
			}
		})
	}
}

func TestParse_AppliesDefaults(t *testing.T) {
	require.Equal(t, Default().Rules, parse(t, "").Rules)
	require.Equal(t, Default().Digest, parse(t, "{}").Digest)
	require.NotEqual(t, Default().Digest, parse(t, "images: {requireTag: true}").Digest)
	require.Equal(t, Default().Volumes.Kinds, parse(t, "volumes: {tokenAudiences: [a]}").Volumes.Kinds)
}

// Admit rejects a pod exactly if the Pod Security admission of the API server would reject it.
func TestAdmit_PredictsPodSecurityAdmission(t *testing.T) {
	enforce := func(level string) map[string]string {
		return map[string]string{"pod-security.kubernetes.io/enforce": level}
	}
	passes := "containers: [{name: app, " + good + "}]"
	root := container("image: x")
	for name, test := range map[string]struct {
		labels      map[string]string
		policy      string
		application string
		overlay     string
		names       []string
	}{
		"a namespace that enforces nothing": {nil, "", passes, root, nil},
		"one that only warns":               {map[string]string{"pod-security.kubernetes.io/warn": "restricted"}, "", passes, root, nil},
		"both pass":                         {enforce("restricted"), "", passes, container(good), nil},
		"the sidecar does not":              {enforce("restricted"), "", passes, root, []string{"enforces the Pod Security level restricted:latest", `container "vector"`}},
		"the application does not":          {enforce("restricted"), "", "containers: [{name: app, image: x}]", root, nil},
		"the pod's context is for both": {
			enforce("restricted"), "", "securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}\n" + passes,
			container("image: x, securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}"), nil,
		},
		"a lower level":              {enforce("baseline"), "", passes, root, nil},
		"an older version of it":     {map[string]string{"pod-security.kubernetes.io/enforce": "restricted", "pod-security.kubernetes.io/enforce-version": "v1.24"}, "", passes, root, []string{"restricted:v1.24"}},
		"a level that is misspelled": {enforce("restrictd"), "", passes, root, []string{"restricted"}},
	} {
		t.Run(name, func(t *testing.T) {
			var application corev1.PodSpec
			require.NoError(t, yaml.UnmarshalStrict([]byte(test.application), &application))
			err := parse(t, test.policy).Admit(test.labels, &application, overlay(t, test.overlay))
			if test.names == nil {
				require.NoError(t, err)
				return
			}
			require.Error(t, err)
			for _, part := range test.names {
				require.ErrorContains(t, err, part)
			}
		})
	}
}

// The chart contains the schema of the operator, so that helm rejects an invalid policy before the installation.
func TestSchema_EqualsSchemaOfChart(t *testing.T) {
	text, err := os.ReadFile("../../chart/values.schema.json")
	require.NoError(t, err)
	var installed struct {
		Properties map[string]map[string]any `json:"properties"`
	}
	require.NoError(t, yaml.Unmarshal(text, &installed))
	var own map[string]any
	require.NoError(t, yaml.Unmarshal(schema, &own))
	delete(own, "$schema")
	require.Equal(t, own, installed.Properties["policy"])
}

// The policy in the chart's values equals the default of the operator.
func TestDefault_EqualsPolicyOfChart(t *testing.T) {
	text, err := os.ReadFile("../../chart/values.yaml")
	require.NoError(t, err)
	var values struct {
		Policy map[string]any `json:"policy"`
	}
	require.NoError(t, yaml.Unmarshal(text, &values))
	shown, err := yaml.Marshal(values.Policy)
	require.NoError(t, err)
	empty := func(of *Policy) Rules {
		rules := of.Rules
		vector := &rules.Vector
		for _, list := range []*[]string{&vector.Types.Allow, &vector.Types.Deny, &vector.Options.Allow, &vector.Options.Deny, &vector.Hosts.Allow, &vector.Hosts.Deny, &rules.Images.Registries, &rules.Volumes.TokenAudiences, &rules.Volumes.CSIDrivers, &rules.Capabilities, &rules.Devices, &rules.ImagePullSecrets.Allowed, &rules.ApplicationEnv, &rules.Overrides.Namespaces, &rules.Overrides.Workloads} {
			if len(*list) == 0 {
				*list = nil // The chart has to write [].
			}
		}
		return rules
	}
	require.Equal(t, empty(Default()), empty(parse(t, string(shown))))
}

// The schema has exactly the keys of the policy that the documentation explains.
func TestSchema_ContainsOnlyDocumentedKeys(t *testing.T) {
	var top node
	require.NoError(t, yaml.Unmarshal(schema, &top))
	page, err := os.ReadFile("../../docs/how-to/operate/policy.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(page), "\n## The policy\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")
	var documented []string
	for _, row := range regexp.MustCompile("(?m)^\\| (`[^|]+) \\|").FindAllStringSubmatch(section, -1) {
		for _, key := range strings.Split(row[1], ", ") {
			documented = append(documented, strings.Trim(key, "`"))
		}
	}
	require.ElementsMatch(t, top.leaves(""), documented)
	for _, domain := range Default().ReservedDomains {
		require.Contains(t, section, "`"+domain+"`")
	}
}

// node is a part of a JSON schema.
type node struct {
	Properties map[string]node `json:"properties"`
}

func (n node) leaves(path string) []string {
	if len(n.Properties) == 0 {
		return []string{strings.TrimPrefix(path, ".")}
	}
	var all []string
	for key, below := range n.Properties {
		all = append(all, below.leaves(path+"."+key)...)
	}
	return all
}

// For any text, Parse returns a policy, or an error with its position.
func FuzzPolicy(f *testing.F) {
	for _, text := range []string{"", "images: {registries: [a]}", "users: {min: 1e99}", "volumes: null", "[", "podSecurity: restricted\ncapabilities: [A]"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Parse(source, []byte(text))
		if err != nil {
			require.ErrorContains(t, err, source)
			return
		}
		if p.PodSecurity == "privileged" && slices.Contains(p.Volumes.Kinds, "hostPath") {
			return
		}
		require.Error(t, p.Check(&corev1.PodTemplateSpec{Spec: corev1.PodSpec{Volumes: []corev1.Volume{{
			Name: "v", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{}},
		}}}}, nil), "nothing but two explicit words opens the node: %s", text)
	})
}

// Only rules that differ from the default change the digest. The chart also passes its defaults, and these may change
// in the next release.
func TestPolicy_DigestsOnlyExplicitRules(t *testing.T) {
	usual := parse(t, "").ExplicitDigest
	require.Equal(t, usual, Default().ExplicitDigest)
	require.Equal(t, usual, parse(t, "podSecurity: restricted\nusers: {}\ncapabilities: []\noverrides: {workloads: [], namespaces: []}").ExplicitDigest)
	seen := map[string]string{usual: "the default"}
	for _, text := range []string{
		"volumes: {memorySizeLimit: 1Mi}", "volumes: {csiDrivers: [a]}", "volumes: {cleanup: []}", "devices: [a]",
		"podSecurity: baseline", "users: {min: 1}", "users: {max: 1}", "capabilities: [NET_ADMIN]", "volumes: {kinds: [emptyDir]}",
		"images: {registries: [a]}", "images: {requireTag: true}", "overrides: {workloads: [a]}", "overrides: {namespaces: [a]}", "reservedDomains: []",
	} {
		given := parse(t, text).ExplicitDigest
		require.Empty(t, seen[given], "%s is as good as %s", text, seen[given])
		beyond, err := json.Marshal(parse(t, text).Explicit)
		require.NoError(t, err)
		stored, err := ParseExplicit(source, beyond)
		require.NoError(t, err)
		require.Equal(t, parse(t, text).Digest, stored.Digest, "what is stored of it is all of it")
		require.Equal(t, given, parse(t, text+"\npodSecurityOfInitContainers: baseline").ExplicitDigest)
		seen[given] = text
	}
}

// A stricter policy applies at once, and a looser one after its revision has started.
func TestWithCurrent_AppliesBothPolicies(t *testing.T) {
	tagged := func(image string) *corev1.PodTemplateSpec {
		return &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "vector", Image: image}}}}
	}
	loose, strict := parse(t, "podSecurity: privileged"), parse(t, "podSecurity: privileged\nimages: {registries: [registry.example]}")
	elsewhere, own := tagged("docker.io/timberio/vector:1"), tagged("registry.example/vector:1")
	require.NoError(t, loose.Check(elsewhere, nil))

	tightened := loose.WithCurrent(strict, "0123456789")
	require.EqualError(t, tightened.Check(elsewhere, nil), strict.Check(elsewhere, nil).Error(), "a stricter one holds at once")
	require.NoError(t, tightened.Check(own, nil))
	require.Equal(t, loose.ExplicitDigest, tightened.ExplicitDigest, "it is no other input")

	loosened := strict.WithCurrent(loose, "0123456789")
	require.EqualError(t, loosened.Check(elsewhere, nil), strict.Check(elsewhere, nil).Error()+
		"\nrejected by the policy of revision 0123456789, which this VectorSidecar has; the current policy allows it; run kubectl vectorsidecar rollout status")
	require.NoError(t, loosened.Check(own, nil))
	require.NotContains(t, []string{loose.Digest, strict.Digest, tightened.Digest}, loosened.Digest)

	require.Same(t, strict, parse(t, "images: {registries: [registry.example]}\npodSecurity: privileged").WithCurrent(strict, "0123456789"))
}

func TestCheck_AllowsPullSecretsByName(t *testing.T) {
	pulling := &corev1.PodTemplateSpec{Spec: corev1.PodSpec{ImagePullSecrets: []corev1.LocalObjectReference{{Name: "registry"}, {Name: "mirror"}}}}
	require.NoError(t, parse(t, "imagePullSecrets: {allowed: [mirror, registry]}").Check(pulling, nil))
	require.ErrorContains(t, parse(t, "imagePullSecrets: {allowed: [registry]}").Check(pulling, nil), `imagePullSecrets[1]: images may not be pulled with the Secret "mirror"; the platform allows registry`)
	require.ErrorContains(t, Default().Check(pulling, nil), "the platform allows none")
	own := &workload.View{PodView: workload.PodView{Secrets: []string{"registry"}}}
	require.NoError(t, Default().CheckApplication(own, pulling), "only the kubelet reads it")
}
