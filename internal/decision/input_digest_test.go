// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
	"kontroloop.ai/vector-sidecar-operator/internal/simulate"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// releaseOf is the Platform of a release: a built-in chart with texts replaced, and
// what the installation provides.
func releaseOf(t *testing.T, replaced map[string]string, installation map[string]string, sets map[string]map[string]string) *desired.Platform {
	t.Helper()
	return platformOf(t, vectorsidecar.FS, replaced, installation, sets)
}

// platformOf is the Platform from a built-in chart with texts replaced, and what the
// installation provides.
func platformOf(t *testing.T, chart fs.FS, replaced map[string]string, installation map[string]string, sets map[string]map[string]string) *desired.Platform {
	t.Helper()
	files, err := render.ReadFiles(chart)
	require.NoError(t, err)
	for from, to := range replaced {
		found := false
		for name, text := range files {
			found = found || bytes.Contains(text, []byte(from))
			files[name] = bytes.ReplaceAll(text, []byte(from), []byte(to))
		}
		require.True(t, found, from)
	}
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

// nextRelease renders differently for everybody.
var nextRelease = map[string]string{
	"imagePullPolicy: {{": "terminationMessagePolicy: FallbackToLogsOnError\n  imagePullPolicy: {{",
	"logLevel: debug":     "logLevel: trace",
}

// askedHashOf is the input-hash that would be written to the first workload.
func askedHashOf(t *testing.T, s *Snapshot) string {
	t.Helper()
	p := decide(t, s).Plans[0]
	require.Equal(t, plan.Inject, p.Change, p.Message())
	text, _ := tree.MapAt(p.Write.Apply, "metadata", "annotations")[meta.AnnotationInputHash].(string)
	require.NotEmpty(t, text)
	return text
}

// Each input that a user can change, such as the spec or a value, changes the input hash.
func TestDecide_IncludesUserInputInInputHash(t *testing.T) {
	configured := func(text string) objects.ConfigMapSet {
		return only("own", objects.NewConfigMap("own", "shop", "vector.yaml", objects.VectorConfig(text)))
	}
	const teamSet = "{{- define \"team\" }}a{{ end }}"
	for name, test := range map[string]struct {
		before, change func(*Snapshot)
	}{
		"the VectorSidecar's spec": {change: func(s *Snapshot) { s.Sidecar = logs().WithEnv("A", "b").Build() }},
		"its free values":          {change: func(s *Snapshot) { s.Sidecar = logs().WithValues(map[string]any{"team": "a"}).Build() }},
		"the environment":          {change: func(s *Snapshot) { s.DefaultEnvironment = "staging" }},
		"the installation's values": {change: func(s *Snapshot) {
			s.Platform = given(t, map[string]string{"development.yaml": "sidecar: {threads: 2}"}, nil)
		}},
		"the policy": {change: func(s *Snapshot) {
			s.Platform = given(t, map[string]string{desired.PolicyKey: "users: {min: 1000}"}, nil)
		}},
		"the API server's minor version": {change: func(s *Snapshot) { s.KubeVersion = "v1.37.2" }},
		"a template set of its own": {change: func(s *Snapshot) {
			s.Platform, s.Sidecar = given(t, nil, map[string]map[string]string{"team": {"_team.tpl": teamSet}}), logs().FromSet("team").Build()
		}},
		"that template set": {
			before: func(s *Snapshot) {
				s.Platform, s.Sidecar = given(t, nil, map[string]map[string]string{"team": {"_team.tpl": teamSet}}), logs().FromSet("team").Build()
			},
			change: func(s *Snapshot) {
				s.Platform = given(t, nil, map[string]map[string]string{"team": {"_team.tpl": teamSet + "\n"}})
			},
		},
		"the platform's default set": {change: func(s *Snapshot) {
			s.Platform = given(t, nil, map[string]map[string]string{"default": {"_team.tpl": teamSet}})
		}},
		"the namespace's defaults": {
			before: func(s *Snapshot) { s.Platform = given(t, map[string]string{desired.PolicyKey: overrides}, nil) },
			change: func(s *Snapshot) {
				s.ConfigMaps = only(meta.NamespaceDefaults, objects.NewConfigMap(meta.NamespaceDefaults, "shop", "values.yaml", "sidecar: {logLevel: warn}"))
			},
		},
		"the workload's annotations": {
			before: func(s *Snapshot) { s.Platform = given(t, map[string]string{desired.PolicyKey: overrides}, nil) },
			change: func(s *Snapshot) {
				change(s, func(v *workload.View) { v.Overrides = map[string]string{"sidecar.threads": "3"} })
			},
		},
		"the configuration referred to": {
			before: func(s *Snapshot) {
				s.Sidecar, s.ConfigMaps = logs().WithConfigMap("own", "vector.yaml").Build(), configured("a")
			},
			change: func(s *Snapshot) { s.ConfigMaps = configured("b") },
		},
		"the time that its pods have, where that cuts the sidecar's": {
			before: func(s *Snapshot) { change(s, func(v *workload.View) { v.GraceSeconds = new(int64(4)) }) },
			change: func(s *Snapshot) { change(s, func(v *workload.View) { v.GraceSeconds = new(int64(3)) }) },
		},
		"the containers, where they are looked at": {
			before: func(s *Snapshot) { s.Sidecar = logs().WithLogs("/var/log/app").Build() },
			change: func(s *Snapshot) {
				change(s, func(v *workload.View) { v.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 9999}} })
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := snapshot(t, logs().Build(), objects.NewDeployment("cart", "shop").Labeled("logs", "vector").WithEmptyDir("logs", "/var/log/app").Build())
			if test.before != nil {
				test.before(s)
			}
			was := askedHashOf(t, s)
			require.Equal(t, was, askedHashOf(t, s), "the same from one pass to the next")
			test.change(s)
			require.NotEqual(t, was, askedHashOf(t, s))
		})
	}
}

// A changed key of a ConfigMap changes the input hash only if the sidecar uses it.
func TestDecide_IncludesUsedConfigMapKeysInInputHash(t *testing.T) {
	of := func(change func(*corev1.ConfigMap)) string {
		s := snapshot(t, logs().WithConfigMap("shipping", "vector.yaml").Build(), cart())
		s.ConfigMaps = only("shipping", shipping(change))
		return askedHashOf(t, s)
	}
	was := of(asIs)
	require.Equal(t, was, of(func(c *corev1.ConfigMap) { c.Data["notes.txt"] = "others" }))
	require.NotEqual(t, was, of(func(c *corev1.ConfigMap) { c.Data["teams.csv"] += "basket,checkout\n" }))
}

// Another release, an equal policy, another environment and unread labels do not change the input hash.
func TestDecide_ExcludesUnrelatedInputFromInputHash(t *testing.T) {
	sets := map[string]map[string]string{"team": {"_team.tpl": "{{- define \"team\" }}a{{ end }}"}}
	installation := map[string]string{"development.yaml": "sidecar: {threads: 2}", desired.PolicyKey: "users: {min: 1000}"}
	for name, change := range map[string]func(*Snapshot){
		"nothing":         func(*Snapshot) {},
		"another release": func(s *Snapshot) { s.Platform = releaseOf(t, nextRelease, installation, sets) },
		"a policy that says the usual": func(s *Snapshot) {
			s.Platform = given(t, map[string]string{"development.yaml": "sidecar: {threads: 2}", desired.PolicyKey: "users: {min: 1000}\npodSecurity: restricted\noverrides: {workloads: []}"}, sets)
		},
		"values of another environment": func(s *Snapshot) {
			s.Platform = given(t, map[string]string{"development.yaml": "sidecar: {threads: 2}", "staging.yaml": "sidecar: {threads: 3}", desired.PolicyKey: "users: {min: 1000}"}, sets)
		},
		"the cluster's IP family":     func(s *Snapshot) { s.Cluster = render.Cluster{IPFamily: render.IPv6} },
		"a patch of the API server":   func(s *Snapshot) { s.KubeVersion = "v1.36.9-eks-1" },
		"labels that nobody looks at": func(s *Snapshot) { change(s, func(v *workload.View) { v.Labels["team"] = "search" }) },
		"the order in a namespace": func(s *Snapshot) {
			s.Others = []v1alpha1.VectorSidecar{*objects.NewVectorSidecar("audit", "shop").Named("audit").Build()}
		},
		"time enough for its pods to end": func(s *Snapshot) { change(s, func(v *workload.View) { v.GraceSeconds = new(int64(50)) }) },
		"how fast it is to go":            func(s *Snapshot) { s.Sidecar = logs().FromSet("team").WithMaxConcurrent("1").Build() },
		"how strictly it is to be placed": func(s *Snapshot) { s.Sidecar.Spec.StrictOrder = true },
	} {
		t.Run(name, func(t *testing.T) {
			s := snapshot(t, logs().FromSet("team").Build(), cart())
			s.Platform = given(t, installation, sets)
			was := askedHashOf(t, s)
			change(s)
			require.Equal(t, was, askedHashOf(t, s))
		})
	}
}

func strictly(sidecar *v1alpha1.VectorSidecar) *v1alpha1.VectorSidecar {
	sidecar.Spec.StrictOrder = true
	return sidecar
}

// carryOut returns the snapshot after a decision was carried out: with its companions
// and the changed workloads.
func carryOut(t *testing.T, s *Snapshot, decided *decision.Decision, deployments ...*appsv1.Deployment) *Snapshot {
	t.Helper()
	merger, err := simulate.New()
	require.NoError(t, err)
	done := *s
	done.Workloads, done.Companions = nil, append(done.Companions, written(decided.Companions)...)
	for i, deployment := range deployments {
		if p := &decided.Plans[i]; p.Writes() {
			merged, err := merger.Workload(deployment, p)
			require.NoError(t, err)
			text, err := json.Marshal(merged)
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(text, deployment))
		}
		done.Workloads = append(done.Workloads, workloadcache.NewRecordWithView(settled(deployment)))
	}
	return &done
}

func TestDecide_WritesNothingAfterOperatorUpgrade(t *testing.T) {
	for name, sidecar := range map[string]*v1alpha1.VectorSidecar{
		"as it comes":               logs().Build(),
		"with logs":                 logs().WithLogs("/var/log/app").Build(),
		"with mounts":               logs().WithLogs("/var/log/app").Sidecar(func(s *v1alpha1.SidecarSpec) { s.Logs.Containers = []string{"*"} }).Build(),
		"reloading":                 logs().Sidecar(func(s *v1alpha1.SidecarSpec) { s.Reload = v1alpha1.ReloadLive }).Build(),
		"with a configuration":      logs().WithInlineConfig(objects.VectorConfig("a")).Build(),
		"where the order is strict": strictly(logs().Build()),
	} {
		t.Run(name, func(t *testing.T) {
			deployment := objects.NewDeployment("cart", "shop").Labeled("logs", "vector").WithEmptyDir("logs", "/var/log/app").WithInitContainer("migrate").Build()
			s := snapshot(t, sidecar, deployment)
			first := decide(t, s)
			require.Equal(t, plan.Inject, first.Plans[0].Change, first.Plans[0].Message())
			done := carryOut(t, s, first, deployment)
			require.Equal(t, plan.None, decide(t, done).Plans[0].Change)

			done.Platform = releaseOf(t, nextRelease, nil, nil)
			for _, memory := range []*memory{{}, newMemory()} {
				for range 2 {
					decided := memory.decide(t, done)
					p := &decided.Plans[0]
					require.Equal(t, plan.None, p.Change, p.Message())
					require.Equal(t, first.Plans[0].Desired.InjectedHash(), p.Existing.UnchangedHash)
					require.NotEqual(t, p.Existing.UnchangedHash, p.Desired.InjectedHash())
					require.Empty(t, decided.Missing)
					require.Empty(t, decided.Obsolete, "the pods mount it")
					require.Subset(t, decided.ConfigMaps(), []string{first.Companions[0].Name})
				}
			}

			done.Sidecar = sidecar.DeepCopy()
			done.Sidecar.Spec.Values = objects.NewVectorSidecar("a", "b").WithValues(map[string]any{"team": "a"}).Build().Spec.Values
			require.Equal(t, plan.Update, decide(t, done).Plans[0].Change, "the change of its own brings it")
		})
	}
}
