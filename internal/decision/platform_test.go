// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision_test

import (
	"fmt"
	"path"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// given is a Platform from the keys of the installation's ConfigMap and from template
// sets.
func given(t testing.TB, installation map[string]string, sets map[string]map[string]string) *desired.Platform {
	t.Helper()
	files, err := render.ReadFiles(vectorsidecar.FS)
	require.NoError(t, err)
	catalog, err := desired.NewCatalog(files)
	require.NoError(t, err)
	var given []corev1.ConfigMap
	for name, data := range sets {
		given = append(given, corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: "vector-system", Name: name, Labels: map[string]string{meta.LabelTemplateSet: name}}, Data: data,
		})
	}
	now, _ := catalog.Update(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "vector-system", Name: "environments"}, Data: installation}, given)
	return now
}

const overrides = "overrides: {namespaces: [sidecar.logLevel, sidecar.resources], workloads: [sidecar.resources, sidecar.threads]}"

func override(path string) string { return meta.AnnotationValuesPrefix + path }

// environmentOfVector returns a variable of the sidecar.
func environmentOfVector(p *plan.Plan, variable string) string {
	for _, entry := range p.Desired.Container("vector").Env {
		if entry.Name == variable {
			return entry.Value
		}
	}
	return ""
}

func TestDecide_AppliesOverridesAllowedByPolicy(t *testing.T) {
	sidecar := logs().Sidecar(func(s *v1alpha1.SidecarSpec) { s.Threads = new(int32); *s.Threads = 2 }).Build()
	plain := objects.NewDeployment("plain", "shop").Labeled("logs", "vector").Build()
	tuned := objects.NewDeployment("tuned", "shop").Labeled("logs", "vector").
		Annotated(override("sidecar.threads"), "3").
		Annotated(override("sidecar.resources"), `{"limits": {"memory": "1Gi"}}`).Build()
	s := snapshot(t, sidecar, plain, tuned)
	s.Platform = given(t, map[string]string{desired.PolicyKey: overrides}, nil)
	s.ConfigMaps = only(meta.NamespaceDefaults, objects.NewConfigMap(meta.NamespaceDefaults, "shop", "values.yaml", "sidecar:\n  logLevel: trace\n  resources: {requests: {cpu: 70m}}\n"))

	plans := decide(t, s).Plans

	require.Len(t, plans, 2)
	for i, want := range []struct{ threads, memory string }{{"2", "128Mi"}, {"3", "1Gi"}} {
		require.Equal(t, plan.Inject, plans[i].Change, plans[i].Message())
		resources := plans[i].Desired.Container("vector").Resources
		require.Equal(t, "trace", environmentOfVector(&plans[i], "VECTOR_LOG"), "the namespace's, over the environment's")
		require.Equal(t, want.threads, environmentOfVector(&plans[i], "VECTOR_THREADS"))
		require.Equal(t, want.memory, resources.Limits.Memory().String())
		require.Equal(t, "70m", resources.Requests.Cpu().String(), "maps merge over all layers")
	}
}

func TestDecide_BlocksOnlyWorkloadWithInvalidOverride(t *testing.T) {
	for name, test := range map[string]struct {
		path, text string
		names      []string
	}{
		"a path that is not allowed": {"sidecar.image", "x", []string{"annotation " + override("sidecar.image"), "a workload may not set sidecar.image", "sidecar.resources, sidecar.threads", "policy.overrides.workloads"}},
		"a map around it":            {"sidecar", "{image: x, threads: 1}", []string{"may not set sidecar.image"}},
		"a wrong type":               {"sidecar.threads", "many", []string{override("sidecar.threads"), "sidecar.threads: got string, want integer"}},
		"no YAML":                    {"sidecar.threads", "{", []string{override("sidecar.threads"), "reading YAML"}},
		"no path":                    {"", "1", []string{"not the path of a value"}},
	} {
		t.Run(name, func(t *testing.T) {
			good := objects.NewDeployment("good", "shop").Labeled("logs", "vector").Build()
			bad := objects.NewDeployment("bad", "shop").Labeled("logs", "vector").Annotated(override(test.path), test.text).Build()
			for _, workloads := range [][]*appsv1.Deployment{{good, bad}, {bad}} {
				s := snapshot(t, logs().Build(), workloads...)
				s.Platform = given(t, map[string]string{desired.PolicyKey: overrides}, nil)

				decided := decide(t, s)

				require.Nil(t, decided.Invalid, "it is the workload's fault, even if there is no other")
				require.Equal(t, plan.ActionBlocked, decided.Plans[0].Action())
				require.Equal(t, meta.ReasonInvalidValues, decided.Plans[0].Reason())
				for _, part := range test.names {
					require.Contains(t, decided.Plans[0].Message(), part)
				}
				if len(workloads) == 2 {
					require.Equal(t, plan.Inject, decided.Plans[1].Change)
				}
			}
		})
	}
}

func TestDecide_KeepsSidecarOnForbiddenOverride(t *testing.T) {
	s := snapshot(t, logs().Build(), objects.NewDeployment("cart", "shop").Labeled("logs", "vector").Annotated(override("sidecar.image"), "x").Build())
	good := snapshot(t, logs().Build(), cart())
	carried(s, &decide(t, good).Plans[0])

	p := decide(t, s).Plans[0]

	require.Equal(t, plan.ActionBlocked, p.Action())
	require.Contains(t, p.Message(), "the platform allows none")
}

func TestDecide_ReportsInvalidNamespaceDefaults(t *testing.T) {
	for name, test := range map[string]struct {
		policy, key, text string
		names             []string
	}{
		"a path that is not allowed": {overrides, "values.yaml", "sidecar:\n  image: x\n", []string{"ConfigMap shop/vectorsidecar-defaults values.yaml:2: a namespace may not set sidecar.image", "sidecar.logLevel, sidecar.resources", "policy.overrides.namespaces"}},
		"nothing is allowed":         {"", "values.yaml", "sidecar: {logLevel: trace}", []string{"ConfigMap shop/vectorsidecar-defaults values.yaml: a namespace may not set values", "the platform allows none"}},
		"a wrong value":              {overrides, "values.yaml", "sidecar: {logLevel: chatty}", []string{"values.yaml:1: sidecar.logLevel"}},
		"another key":                {overrides, "value.yaml", "{}", []string{`no key "values.yaml"`, "existing keys: value.yaml"}},
		"no YAML":                    {overrides, "values.yaml", "[", []string{"vectorsidecar-defaults values.yaml"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := snapshot(t, logs().Build(), cart())
			s.Platform = given(t, map[string]string{desired.PolicyKey: test.policy}, nil)
			s.ConfigMaps = only(meta.NamespaceDefaults, objects.NewConfigMap(meta.NamespaceDefaults, "shop", test.key, test.text))

			decided := decide(t, s)

			require.Contains(t, decided.ConfigMaps(), meta.NamespaceDefaults, "its repair has to be seen")
			require.NotNil(t, decided.Invalid)
			require.Equal(t, meta.ReasonInvalidValues, decided.Invalid.Reason)
			for _, part := range test.names {
				require.Contains(t, decided.Invalid.Message, part)
			}
		})
	}
}

const broken = "{{ if }}"

// The template set of the VectorSidecar overrides that of its environment, which overrides the default.
func TestDecide_UsesMostSpecificTemplateSet(t *testing.T) {
	sets := map[string]map[string]string{"gateway": {"NOTES.txt": "x"}, "edge": {"NOTES.txt": "y"}, "broken": {"_x.tpl": broken}}
	for name, test := range map[string]struct {
		spec, environment string
		want, reason      string
		names             []string
	}{
		"the default one":          {want: "default"},
		"the environment's":        {environment: "gateway", want: "gateway"},
		"the VectorSidecar's":      {environment: "gateway", spec: "edge", want: "edge"},
		"the default one by name":  {environment: "gateway", spec: "default", want: "default"},
		"one that is not there":    {spec: "gatewai", reason: meta.ReasonUnknownTemplateSet, names: []string{"VectorSidecar shop/logs", `"gatewai" does not exist`, "broken, default, edge, gateway", `did you mean "gateway"?`}},
		"one that was never good":  {spec: "broken", want: "broken", reason: meta.ReasonInvalidTemplateSet, names: []string{`template set "broken", ConfigMap vector-system/broken`, "_x.tpl:1"}},
		"an environment's mistake": {environment: "nowhere", reason: meta.ReasonUnknownTemplateSet, names: []string{`"nowhere"`}},
	} {
		t.Run(name, func(t *testing.T) {
			sidecar := logs().Build()
			sidecar.Spec.TemplateSet = test.spec
			s := snapshot(t, sidecar, cart())
			s.Platform = given(t, map[string]string{"development.yaml": "templateSet: '" + test.environment + "'"}, sets)

			decided := decide(t, s)

			require.Equal(t, test.want, decided.TemplateSet)
			if test.reason == "" {
				require.Nil(t, decided.Invalid)
				require.Equal(t, plan.Inject, decided.Plans[0].Change)
				return
			}
			require.Empty(t, decided.Plans, "nothing is touched")
			require.Equal(t, test.reason, decided.Invalid.Reason)
			for _, part := range test.names {
				require.Contains(t, decided.Invalid.Message, part)
			}
		})
	}
}

// If the policy cannot be parsed and there is no earlier one, nothing is injected.
func TestDecide_StopsInjectionOnInvalidPolicy(t *testing.T) {
	s := snapshot(t, logs().Build(), cart())
	s.Platform = given(t, map[string]string{desired.PolicyKey: "imags: {}"}, nil)

	decided := decide(t, s)

	require.Empty(t, decided.Plans)
	require.Equal(t, meta.ReasonInvalidPolicy, decided.Invalid.Reason)
	require.Contains(t, decided.Invalid.Message, "did you mean images?")
}

func TestDecide_AppliesPolicyToSpecValues(t *testing.T) {
	s := snapshot(t, logs().Sidecar(func(s *v1alpha1.SidecarSpec) { s.Image = "docker.io/timberio/vector" }).Build(), cart())
	s.Platform = given(t, map[string]string{desired.PolicyKey: "images: {requireTag: true}"}, nil)

	decided := decide(t, s)

	require.Equal(t, meta.ReasonPolicyViolation, decided.Invalid.Reason)
	require.Contains(t, decided.Invalid.Message, "podtemplate.yaml: rejected by the platform's policy: template.spec.initContainers[0].image")
}

// The registry replaces the host of each image, also of one that the VectorSidecar names.
func TestDecide_PullsAllImagesFromRegistry(t *testing.T) {
	for image, want := range map[string]string{
		"":                            "mirror.example:5000/all/timberio/vector:0.57.0-distroless-static",
		"timberio/vector:1":           "mirror.example:5000/all/timberio/vector:1",
		"localhost/vector:1":          "mirror.example:5000/all/vector:1",
		"registry:5000/team/vector:1": "mirror.example:5000/all/team/vector:1",
		"vector:1.0":                  "mirror.example:5000/all/vector:1.0",
	} {
		s := snapshot(t, logs().Sidecar(func(s *v1alpha1.SidecarSpec) {
			s.Image = image
			s.Logs = &v1alpha1.LogsSpec{Path: "/var/log/app", Containers: []string{"*"}}
			s.Shutdown = &v1alpha1.ShutdownSpec{Method: "Gate"}
		}).Build(), cart())
		s.Platform = given(t, map[string]string{"development.yaml": "global: {imageRegistry: mirror.example:5000/all/}"}, nil)

		overlay := decide(t, s).Plans[0].Desired

		require.Equal(t, want, overlay.Container("vector").Image)
		require.Equal(t, "mirror.example:5000/all/kontroloop-ai/vector-sidecar-operator-drain-gate:0.1.0", overlay.Container("vector-drain-gate").Image)
	}
}

// A sidecar above the enforced Pod Security level is blocked. If the workload's pods already violate that level, the
// sidecar is injected.
func TestDecide_BlocksWorkloadOnPodSecurityViolation(t *testing.T) {
	sidecar := logs().Sidecar(func(s *v1alpha1.SidecarSpec) { s.SecurityContext = &corev1.SecurityContext{RunAsUser: new(int64)} }).Build()
	no, yes := false, true
	passing := objects.NewDeployment("passing", "shop").Labeled("logs", "vector").Pod(func(pod *corev1.PodSpec) {
		pod.SecurityContext = &corev1.PodSecurityContext{RunAsNonRoot: &yes, SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}}
		pod.Containers[0].SecurityContext = &corev1.SecurityContext{
			AllowPrivilegeEscalation: &no, Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		}
	}).Build()
	failing := objects.NewDeployment("failing", "shop").Labeled("logs", "vector").Build()
	s := snapshot(t, sidecar, passing, failing)
	s.Platform = given(t, map[string]string{desired.PolicyKey: "podSecurity: privileged"}, nil)
	s.NamespaceLabels = map[string]string{"pod-security.kubernetes.io/enforce": "restricted"}

	decided := decide(t, s)

	require.Nil(t, decided.Invalid)
	require.Equal(t, plan.Inject, decided.Plans[0].Change, "its pods do not come up with or without us")
	require.Equal(t, plan.ActionBlocked, decided.Plans[1].Action())
	require.Equal(t, meta.ReasonPodSecurity, decided.Plans[1].Reason())
	require.Contains(t, decided.Plans[1].Message(), `runAsUser=0 (container "vector"`)
}

// An error in a template names the layer of values in which the faulty value was set, because the user must correct it
// there.
func TestDecide_NamesValueLayerInTemplateErrors(t *testing.T) {
	sets := map[string]map[string]string{"own": {"extra.yaml": "{{ $s := .Values.sidecar }}\n{{ $s.name.x }}"}}
	for name, test := range map[string]struct {
		installation string
		sidecar      *v1alpha1.VectorSidecar
		want         string
	}{
		"the chart's":         {sidecar: logs().Build(), want: "[sidecar.name is set by values.yaml:"},
		"the installation's":  {installation: "sidecar:\n  name: shipper\n", sidecar: logs().Build(), want: "[sidecar.name is set by ConfigMap vector-system/environments development.yaml:2]"},
		"the VectorSidecar's": {sidecar: logs().Named("shipper").Build(), want: "[sidecar.name is set by VectorSidecar shop/logs spec]"},
	} {
		t.Run(name, func(t *testing.T) {
			test.sidecar.Spec.TemplateSet = "own"
			s := snapshot(t, test.sidecar, cart())
			s.Platform = given(t, map[string]string{"development.yaml": test.installation}, sets)

			decided := decide(t, s)

			require.Equal(t, meta.ReasonInvalidTemplate, decided.Invalid.Reason)
			require.Contains(t, decided.Invalid.Message, `rendering for environment "development": vector-sidecar/templates/extra.yaml:2:4`)
			require.Contains(t, decided.Invalid.Message, test.want)
		})
	}
}

// The policy allows users to refer to ConfigMaps of their own namespace. That gives them no access to ConfigMaps of the
// operator namespace.
func TestDecide_HidesConfigMapsOfOperatorNamespace(t *testing.T) {
	const mayChoose = "overrides: {namespaces: [sidecar.config], workloads: [sidecar.config]}"
	reference := func(name, key string) string {
		return fmt.Sprintf("sidecar: {config: {configMapRef: {name: %s, key: %s}}}", name, key)
	}
	for name, test := range map[string]struct {
		from       v1alpha1.ConfigMapNamespace
		defaults   string
		path, text string
		want       string
	}{
		"who wrote the sidecar":              {v1alpha1.ConfigMapOfOperator, "", "", "", ""},
		"a workload, another one":            {v1alpha1.ConfigMapOfOperator, "", "sidecar.config.configMapRef.name", "secret", "a namespace or a workload must not set sidecar.config.configMapRef.name"},
		"a workload, another key":            {v1alpha1.ConfigMapOfOperator, "", "sidecar.config.configMapRef.key", "other.yaml", "a namespace or a workload must not set sidecar.config.configMapRef.key"},
		"a namespace, which is written over": {v1alpha1.ConfigMapOfOperator, reference("secret", "vector.yaml"), "", "", ""},
		"a workload, of its own namespace":   {v1alpha1.ConfigMapOfWorkload, "", "sidecar.config.configMapRef.name", "own", ""},
		"a workload, of another namespace":   {v1alpha1.ConfigMapOfWorkload, "", "sidecar.config.configMapRef.name", "vector-system/secret", "is not a valid name of a ConfigMap"},
		"a path within the operator's":       {v1alpha1.ConfigMapOfOperator, "", "sidecar.config.configMapRef.name", "../pay/secret", "is not a valid name of a ConfigMap"},
	} {
		t.Run(name, func(t *testing.T) {
			workload := objects.NewDeployment("cart", "shop").Labeled("logs", "vector")
			if test.path != "" {
				workload = workload.Annotated(override(test.path), test.text)
			}
			s := snapshot(t, logs().WithConfigMap("central", "vector.yaml").Build(), workload.Build())
			s.SetScope(desired.ParentScope{ClusterScope: v1alpha1.ClusterScope{ConfigMapNamespace: test.from}})
			s.Home, s.Platform = "vector-system", given(t, map[string]string{desired.PolicyKey: mayChoose}, nil)
			configMaps := objects.ConfigMapSet{}
			s.ConfigMaps = configMaps
			for _, key := range []string{"central", "own", "vector-system/central", "vector-system/secret"} {
				configMaps[desired.ConfigMapNamed("shop", key)] = objects.NewConfigMap(path.Base(key), "shop", "vector.yaml", objects.VectorConfig(path.Base(key)))
			}
			if test.defaults != "" {
				configMaps[inShop(meta.NamespaceDefaults)] = objects.NewConfigMap(meta.NamespaceDefaults, "shop", "values.yaml", test.defaults)
			}
			p := &decide(t, s).Plans[0]
			if test.want == "" {
				require.Equal(t, plan.Inject, p.Change, p.Message())
				return
			}
			require.Equal(t, plan.ActionBlocked, p.Action())
			require.Contains(t, p.Message(), test.want)
		})
	}
}
