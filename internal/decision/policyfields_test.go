// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision_test

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/policy"
	"kontroloop.ai/vector-sidecar-operator/test/fields"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// strict are values of the policy's keys that refuse what a field may have; loose are
// values that refuse nothing. For volumes.kinds that depends on the field.
var strict, loose = yamlMap(`
podSecurity: restricted
podSecurityOfInitContainers: restricted
images: {registries: [registry.example.com/platform], requireTag: true, requireDigest: true}
volumes: {kinds: [], csiDrivers: [], tokenAudiences: [], applicationSecrets: false, memorySizeLimit: 1Mi}
imagePullSecrets: {allowed: []}
capabilities: []
devices: []
users: {min: 1000, max: 70000}
reservedDomains: [kubernetes.io, amazonaws.com]
`), yamlMap(`
podSecurity: privileged
podSecurityOfInitContainers: privileged
images: {registries: [], requireTag: false, requireDigest: false}
volumes: {csiDrivers: [s], tokenAudiences: [s], applicationSecrets: true}
imagePullSecrets: {allowed: [s]}
capabilities: [NET_ADMIN]
devices: [example.com/gpu, s]
users: {min: null, max: null}
reservedDomains: []
`)

// samples are values of fields that a strict policy refuses. Fields without one get a
// value made from the type.
var samples = map[string]any{
	"Container.image":                           "evil.example/x",
	"EmptyDirVolumeSource.medium":               "Memory",
	"ImageVolumeSource.reference":               "evil.example/x",
	"VolumeSource.secret":                       map[string]any{"secretName": "s"},
	"VolumeMount.name":                          "keys",
	"VolumeDevice.name":                         "keys",
	"FileKeySelector.volumeName":                "keys",
	"VolumeMount.mountPropagation":              "HostToContainer",
	"ResourceRequirements.limits":               map[string]any{"example.com/gpu": "1"},
	"ResourceRequirements.requests":             map[string]any{"example.com/gpu": "1"},
	"Capabilities.add":                          []any{"NET_ADMIN"},
	"Capabilities.drop":                         []any{"CHOWN"},
	"SecurityContext.runAsUser":                 0,
	"SecurityContext.runAsUser of users.max":    70001,
	"SecurityContext.runAsNonRoot":              false,
	"SecurityContext.procMount":                 "Unmasked",
	"SeccompProfile.type":                       "Unconfined",
	"AppArmorProfile.type":                      "Unconfined",
	"HTTPGetAction.host":                        "169.254.169.254",
	"TCPSocketAction.host":                      "169.254.169.254",
	"ObjectMeta.labels":                         map[string]any{"iam.amazonaws.com/role": "s"},
	"ObjectMeta.annotations":                    map[string]any{"iam.amazonaws.com/role": "s"},
	"WindowsSecurityContextOptions.hostProcess": true,
}

// beside is what has to be set next to the field, by where it is.
var beside = map[string]string{
	"spec.volumes[]":                                    "{name: v}",
	"spec.containers[]":                                 allowedContainer("more"),
	"spec.containers[].env[]":                           "{name: V}",
	"spec.containers[].ports[]":                         "{containerPort: 8081}",
	"spec.containers[].volumeMounts[]":                  "{name: logs, mountPath: /more}",
	"spec.containers[].volumeDevices[]":                 "{devicePath: /dev/more}",
	"spec.containers[].securityContext.appArmorProfile": "{type: Localhost}",
}

// allowedContainer is a container that a strict policy allows.
func allowedContainer(name string) string {
	return "{name: " + name + ", image: 'registry.example.com/platform/vector:1@sha256:" + strings.Repeat("0", 64) + "', securityContext: " +
		"{runAsNonRoot: true, runAsUser: 65532, allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}, seccompProfile: {type: RuntimeDefault}}}"
}

// Each field that can affect a pod is set alone, in each place of the pod. A strict policy rejects it, and so does a
// policy that is strict only in the key of that field. A loose policy allows it. If no key allows a field, each policy
// rejects it, and a harmless field is always allowed.
func TestDecide_ChecksEachFieldAgainstItsPolicyKeys(t *testing.T) {
	f := newField(t)
	for _, field := range fields.Below(reflect.TypeFor[corev1.PodTemplateSpec](), func(name string) bool {
		line := policy.LineFor(name)
		return line != nil && !line.NotAllowed()
	}) {
		line := policy.LineFor(field.Name)
		if line == nil {
			continue // The policy's own test checks this.
		}
		for _, path := range field.Paths {
			t.Run(path, func(t *testing.T) {
				switch {
				case line.NotAllowed() && !strings.HasPrefix(line.Field, "PodSpec."):
					f.refuses(t, f.decide(t, f.loose(), f.sidecar(path, f.sample(line.Field, ""))), "")
				case line.NotAllowed():
					f.isTheOwners(t, field.Name, path)
				case line.Grant == policy.Nothing:
					f.isHarmless(t, field.Name, path)
				case line.Grant != policy.Refinement:
					f.isJudged(t, line, path)
				}
			})
		}
	}
}

// Without any of these fields, each policy allows the sidecar.
func TestDecide_AllowsPlainSidecarUnderStrictPolicy(t *testing.T) {
	f := newField(t)
	f.allows(t, f.decide(t, strict, f.sidecar("", nil)))
	f.allows(t, f.decide(t, f.loose(), f.sidecar("", nil)))
	for _, list := range []string{"containers", "initContainers"} {
		f.allows(t, f.decide(t, strict, f.sidecar("spec."+list+"[].name", "more")))
	}
}

// fieldTest decides on sidecars with a field set.
type fieldTest struct {
	// types are the types of the fields, by name.
	types map[string]reflect.Type
	// platforms are cached by their policies.
	platforms map[string]*desired.Platform
	kinds     []any
}

func newField(t *testing.T) *fieldTest {
	t.Helper()
	f := &fieldTest{types: map[string]reflect.Type{}, platforms: map[string]*desired.Platform{}}
	f.note(reflect.TypeFor[corev1.PodTemplateSpec]())
	kinds := map[string]bool{}
	for name := range f.types {
		if kind := policy.LineFor(name); kind != nil && kind.Kind != "" {
			kinds[kind.Kind] = true
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		f.kinds = append(f.kinds, kind)
	}
	return f
}

func (f *fieldTest) note(of reflect.Type) {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct {
		return
	}
	for i := range of.NumField() {
		name := of.Name() + "." + fields.JSON(of.Field(i))
		if _, known := f.types[name]; !known {
			f.types[name] = of.Field(i).Type
			f.note(of.Field(i).Type)
		}
	}
}

func (f *fieldTest) isJudged(t *testing.T, line *policy.Line, path string) {
	isInit := strings.HasPrefix(path, "spec.initContainers[]")
	sidecar := f.sidecar(path, f.sample(line.Field, ""))
	f.refuses(t, f.decide(t, strict, sidecar), "")
	f.allows(t, f.decide(t, f.loose(), sidecar))
	for _, key := range line.Keys {
		if isInit && key == "podSecurity" {
			key = "podSecurityOfInitContainers"
		}
		one := f.loose()
		set(one, key, get(strict, key))
		if key == "volumes.kinds" {
			set(one, key, slices.DeleteFunc(slices.Clone(f.kinds), func(kind any) bool { return kind == line.Kind }))
		}
		f.refuses(t, f.decide(t, one, f.sidecar(path, f.sample(line.Field, key))), key)
	}
}

func (f *fieldTest) isTheOwners(t *testing.T, name, path string) {
	decided := f.decide(t, f.loose(), f.sidecar(path, f.sample(name, "")))
	require.NotNil(t, decided.Invalid)
	require.Equal(t, meta.ReasonInvalidSidecar, decided.Invalid.Reason)
	require.Contains(t, decided.Invalid.Message, "template."+path+": a sidecar may only add")
}

// isHarmless skips what only holds other fields, and what is in a volume, which is
// checked as a whole.
func (f *fieldTest) isHarmless(t *testing.T, name, path string) {
	of := f.types[name]
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	if of.Kind() == reflect.Struct && of.NumField() > 0 || !strings.Contains(path, "ontainers[].") {
		return
	}
	decided := f.decide(t, strict, f.sidecar(path, f.sample(name, "")))
	if decided.Invalid != nil {
		require.Equal(t, meta.ReasonInvalidSidecar, decided.Invalid.Reason, decided.Invalid.Message)
	}
}

func (f *fieldTest) allows(t *testing.T, decided *decision.Decision) {
	t.Helper()
	require.Nil(t, decided.Invalid)
	require.Equal(t, plan.Inject, decided.Plans[0].Change, decided.Plans[0].Message())
}

// refuses checks that the key is the only reason, "" for any.
func (f *fieldTest) refuses(t *testing.T, decided *decision.Decision, key string) {
	t.Helper()
	require.Len(t, decided.Plans, 1)
	require.False(t, decided.Plans[0].Writes())
	require.Equal(t, meta.ReasonPolicyViolation, decided.Plans[0].Reason())
	if key == "" {
		return
	}
	for finding := range strings.Lines(decided.Plans[0].Message()) {
		require.Contains(t, finding, "(policy."+key+")")
	}
}

// decide decides on a sidecar for an application that has a Secret and a volume of
// logs.
func (f *fieldTest) decide(t *testing.T, rules, sidecar map[string]any) *decision.Decision {
	t.Helper()
	text, err := yaml.Marshal(rules)
	require.NoError(t, err)
	if f.platforms[string(text)] == nil {
		f.platforms[string(text)] = given(t, map[string]string{desired.PolicyKey: string(text)}, map[string]map[string]string{
			"own": {"podtemplate.yaml": "kind: PodTemplate\ntemplate: {{ toJson .Values.values.template }}"},
		})
	}
	deployment := objects.NewDeployment("cart", "shop").Labeled("logs", "vector").WithEmptyDir("logs", "/var/log/app").Pod(func(pod *corev1.PodSpec) {
		pod.Volumes = append(pod.Volumes, corev1.Volume{Name: "keys", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "s"}}})
	}).Build()
	s := snapshot(t, logs().FromSet("own").WithValues(map[string]any{"template": sidecar}).Build(), deployment)
	s.Platform, s.Accounts = f.platforms[string(text)], accountsOf{"default": {}}
	return decide(t, s)
}

// loose is a policy that refuses nothing.
func (f *fieldTest) loose() map[string]any {
	open := deepCopy(loose)
	set(open, "volumes.kinds", f.kinds)
	return open
}

// sample is a value that a key refuses, "" for any.
func (f *fieldTest) sample(name, key string) any {
	if value, ok := samples[name+" of "+key]; ok {
		return value
	}
	if value, ok := samples[name]; ok {
		return value
	}
	return valueOf(f.types[name])
}

// valueOf is a value of a type: with a name where it can have one.
func valueOf(of reflect.Type) any {
	switch of.Kind() {
	case reflect.Pointer:
		return valueOf(of.Elem())
	case reflect.Slice:
		return []any{valueOf(of.Elem())}
	case reflect.Map:
		return map[string]any{"s": valueOf(of.Elem())}
	case reflect.Struct:
		for _, field := range reflect.VisibleFields(of) {
			if fields.JSON(field) == "name" {
				return map[string]any{"name": "s"}
			}
		}
		return map[string]any{}
	case reflect.String:
		return "s"
	case reflect.Bool:
		return true
	}
	return 1
}

// sidecar is a pod template with a container that every policy allows, and one more
// field.
func (f *fieldTest) sidecar(path string, value any) map[string]any {
	template := map[string]any{"spec": map[string]any{"containers": []any{yamlMap(allowedContainer("vector"))}}}
	if path == "" {
		return template
	}
	steps := strings.Split(path, ".")
	at := template
	for i, step := range steps[:len(steps)-1] {
		key, isList := strings.CutSuffix(step, "[]")
		has := yamlMap(beside[strings.Replace(strings.Join(steps[:i+1], "."), "initContainers", "containers", 1)])
		switch there := at[key].(type) {
		case map[string]any:
			has = there
		default:
			at[key] = has
			if items, _ := there.([]any); isList {
				at[key] = append(items, has)
			}
		}
		at = has
	}
	at[steps[len(steps)-1]] = value
	return template
}

// yamlMap parses a map.
func yamlMap(text string) map[string]any {
	read := map[string]any{}
	if err := yaml.Unmarshal([]byte(text), &read); err != nil {
		panic(err) // The text is a constant.
	}
	return read
}

func deepCopy(of map[string]any) map[string]any {
	text, _ := yaml.Marshal(of) // It was read from YAML.
	return yamlMap(string(text))
}

// get and set access a key of the policy by its path.
func get(rules map[string]any, path string) any {
	key, rest, isDeeper := strings.Cut(path, ".")
	if !isDeeper {
		return rules[key]
	}
	below, _ := rules[key].(map[string]any)
	return get(below, rest)
}

func set(rules map[string]any, path string, value any) {
	key, rest, isDeeper := strings.Cut(path, ".")
	if !isDeeper {
		rules[key] = value
		return
	}
	below, _ := rules[key].(map[string]any)
	set(below, rest, value)
}
