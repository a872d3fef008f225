// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/companion"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// Snapshot is the input of a test.
type Snapshot = decision.Input

func logs() *objects.VectorSidecar {
	return objects.NewVectorSidecar("logs", "shop").Selecting("logs", "vector")
}

func cart() *appsv1.Deployment {
	return objects.NewDeployment("cart", "shop").Labeled("logs", "vector").Build()
}

// settled is the view of a workload whose rollout is complete.
func settled(deployment *appsv1.Deployment) workload.View {
	view := workload.NewView(deployment)
	view.UID, view.Rollout, view.Evidence = types.UID(deployment.Name), workload.RolloutComplete, 1
	return view
}

// builtin is the built-in chart, which does not change and is loaded once.
var builtin = sync.OnceValues(func() (*render.Chart, error) { return render.LoadChart(vectorsidecar.FS) })

func snapshot(t testing.TB, sidecar *v1alpha1.VectorSidecar, deployments ...*appsv1.Deployment) *Snapshot {
	t.Helper()
	chart, err := builtin()
	require.NoError(t, err)
	s := &Snapshot{Inputs: desired.Inputs{
		Sidecar: sidecar, Platform: desired.NewPlatform(chart, "", nil),
		Settings: desired.Settings{DefaultEnvironment: "development", KubeVersion: "v1.36.0"}, ConfigMaps: objects.ConfigMapSet{}, Accounts: accountsOf{},
	}}
	for _, deployment := range deployments {
		s.Workloads = append(s.Workloads, workloadcache.NewRecordWithView(settled(deployment)))
	}
	return s
}

// only is a namespace with one ConfigMap.
func only(name string, object *corev1.ConfigMap) objects.ConfigMapSet {
	return objects.ConfigMapSet{inShop(name): object}
}

func inShop(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: "shop", Name: name}
}

func decide(t *testing.T, s *Snapshot) *decision.Decision {
	t.Helper()
	return new(memory).decide(t, s)
}

// memory is what is kept between decisions; its zero value is that of a new process.
type memory struct {
	cache    *desired.Cache
	previous *decision.Previous
}

func newMemory() *memory { return &memory{cache: desired.NewCache()} }

// decide decides with the memory. Previous is moved there, so that decisions can be
// compared.
func (m *memory) decide(t *testing.T, s *Snapshot) *decision.Decision {
	t.Helper()
	remembered := *s
	remembered.Previous = m.previous
	decided, err := decision.Decide(t.Context(), &remembered, m.cache)
	require.NoError(t, err)
	m.previous, decided.Previous = decided.Previous, nil
	return decided
}

// change changes the first workload.
func change(s *Snapshot, how func(*workload.View)) {
	view := s.Workloads[0].View()
	how(&view)
	s.Workloads = slices.Clone(s.Workloads)
	s.Workloads[0] = workloadcache.NewRecordWithView(view)
}

// carried has the first workload carry what an earlier decision planned.
func carried(s *Snapshot, p *plan.Plan) {
	change(s, func(view *workload.View) {
		asked, applied := recordOf(p)
		view.Owned = map[string]workload.OwnedFields{p.Manager: {
			Tree: podMetadata(p), Hash: workload.Hash(p.Write.Apply), InputHash: asked, AppliedHash: applied, InjectedHash: p.Desired.InjectedHash(), HasPlainAnnotations: true,
			Containers: []string{"vector"}, Volumes: []string{"vectorsidecar-vector-config", "vectorsidecar-vector-data"},
		}}
	})
}

// podMetadata returns the metadata of the pods that a plan writes.
func podMetadata(p *plan.Plan) map[string]any {
	metadata := tree.MapAt(p.Write.Apply, "spec", "template", "metadata")
	return map[string]any{"spec": map[string]any{"template": map[string]any{"metadata": metadata}}}
}

// recordOf returns the digests of the requested input and of what is written from the annotations of a plan.
func recordOf(p *plan.Plan) (asked, applied string) {
	for key, value := range annotations(p) {
		switch {
		case meta.IsAnnotationKey(key, meta.AnnotationInputHash):
			asked, _ = value.(string)
		case meta.IsAnnotationKey(key, meta.AnnotationAppliedHash):
			applied, _ = value.(string)
		}
	}
	return asked, applied
}

// written are companions as they are after they were written.
func written(companions []corev1.ConfigMap) []corev1.ConfigMap {
	var there []corev1.ConfigMap
	for i := range companions {
		object := companions[i].DeepCopy()
		companion.Mark(object)
		there = append(there, *object)
	}
	return there
}

// The environment of the VectorSidecar overrides that of the namespace, which overrides the default.
func TestDecide_UsesMostSpecificEnvironment(t *testing.T) {
	for name, test := range map[string]struct {
		spec, namespace, operator string
		want                      string
	}{
		"the operator's":       {operator: "staging", want: "staging"},
		"the namespace's":      {namespace: "production", operator: "staging", want: "production"},
		"the VectorSidecar's":  {spec: "development", namespace: "production", operator: "staging", want: "development"},
		"not the namespace's":  {spec: "development", operator: "staging", want: "development"},
		"of an empty label":    {namespace: "", operator: "production", want: "production"},
		"one that has no file": {spec: "nowhere", operator: "staging", want: "nowhere"},
	} {
		t.Run(name, func(t *testing.T) {
			s := snapshot(t, logs().InEnvironment(test.spec).Build(), cart())
			s.DefaultEnvironment = test.operator
			s.NamespaceLabels = map[string]string{meta.LabelEnvironment: test.namespace}

			require.Equal(t, test.want, decide(t, s).Environment)
		})
	}
}

// Each case is a reason for which a workload loses its sidecar.
func TestDecide_RemovesSidecar(t *testing.T) {
	now := metav1.Now()
	for name, happen := range map[string]func(*Snapshot){
		"switched off":          func(s *Snapshot) { s.Sidecar = logs().Disabled().Build() },
		"deleted":               func(s *Snapshot) { s.Sidecar.DeletionTimestamp = &now },
		"another selector":      func(s *Snapshot) { s.Sidecar.Spec.Selector.MatchLabels["logs"] = "none" },
		"the label taken off":   func(s *Snapshot) { change(s, func(v *workload.View) { v.Labels = nil }) },
		"deleted while invalid": func(s *Snapshot) { s.Sidecar.DeletionTimestamp, s.Sidecar.Spec.Environment = &now, "nowhere" },
		"deleted, selecting nonsense": func(s *Snapshot) {
			s.Sidecar.DeletionTimestamp = &now
			s.Sidecar.Spec.Selector = metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Like"}}}
		},
		"switched off while invalid": func(s *Snapshot) { s.Sidecar = logs().Disabled().InEnvironment("nowhere").Build() },
	} {
		t.Run(name, func(t *testing.T) {
			s := snapshot(t, logs().Build(), cart())
			carried(s, &decide(t, s).Plans[0])
			happen(s)

			decided := decide(t, s)

			require.Len(t, decided.Plans, 1)
			require.Equal(t, plan.Remove, decided.Plans[0].Change)
		})
	}
}

func TestDecide_KeepsSidecarAndCompanionsOnInvalidSpec(t *testing.T) {
	s := snapshot(t, logs().Build(), cart())
	carried(s, &decide(t, s).Plans[0])
	companions := written(decide(t, s).Companions)
	for name, change := range map[string]func(*v1alpha1.VectorSidecar){
		"an unknown environment": func(vs *v1alpha1.VectorSidecar) { vs.Spec.Environment = "nowhere" },
		"a ConfigMap that is gone": func(vs *v1alpha1.VectorSidecar) {
			vs.Spec.Sidecar = &v1alpha1.SidecarSpec{Config: &v1alpha1.ConfigSpec{ConfigMapRef: &v1alpha1.ConfigMapRef{Name: "gone"}}}
		},
		"logs out of reach": func(vs *v1alpha1.VectorSidecar) {
			vs.Spec.Sidecar = &v1alpha1.SidecarSpec{Logs: &v1alpha1.LogsSpec{Path: "/var/log/app"}}
		},
		"a selector of everything": func(vs *v1alpha1.VectorSidecar) { vs.Spec.Selector = metav1.LabelSelector{} },
		"more than the API server is to send": func(vs *v1alpha1.VectorSidecar) {
			vs.Annotations = map[string]string{"a": strings.Repeat("x", 1<<20)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			broken := *s
			broken.Sidecar = logs().Build()
			broken.Companions = companions
			change(broken.Sidecar)

			decided := decide(t, &broken)

			require.NotNil(t, decided.Invalid)
			for i := range decided.Plans {
				require.False(t, decided.Plans[i].Writes(), decided.Plans[i].Change)
			}
			require.Empty(t, decided.Obsolete, "what runs still needs its configuration")
		})
	}
}

// A workload that cannot have the sidecar is blocked, and others get it.
func TestDecide_BlocksOnlyUnsuitableWorkload(t *testing.T) {
	able := objects.NewDeployment("able", "shop").Labeled("logs", "vector").WithEmptyDir("logs", "/var/log/app").Build()

	decided := decide(t, snapshot(t, logs().WithLogs("/var/log/app").Build(), cart(), able))

	require.Nil(t, decided.Invalid)
	require.Equal(t, 2, decided.Matched)
	require.Equal(t, plan.Inject, decided.Plans[0].Change)
	require.Equal(t, plan.ActionBlocked, decided.Plans[1].Action())
	require.Equal(t, meta.ReasonInvalidTemplate, decided.Plans[1].Reason())
	require.Contains(t, decided.Plans[1].Message(), "/var/log/app")
}

func TestDecide_ValidatesReferencedConfigMap(t *testing.T) {
	good := objects.NewConfigMap("shipping", "shop", "vector.yaml", objects.VectorConfig("x"))
	binary := good.DeepCopy()
	binary.Data, binary.BinaryData = nil, map[string][]byte{"vector.yaml": {0xff}}
	for name, test := range map[string]struct {
		object *corev1.ConfigMap
		key    string
		reason string
		names  []string
	}{
		"a good one":            {object: good},
		"none":                  {reason: meta.ReasonConfigMapNotFound, names: []string{"ConfigMap shop/shipping", "sidecar.config.configMapRef.name", "VectorSidecar shop/logs"}},
		"no such key":           {object: good, key: "agent.toml", reason: meta.ReasonConfigMapNotFound, names: []string{"shop/shipping", `"agent.toml"`, "vector.yaml"}},
		"a key that is binary":  {object: binary, reason: meta.ReasonConfigMapNotFound, names: []string{"vector.yaml (binary)"}},
		"no keys":               {object: &corev1.ConfigMap{}, reason: meta.ReasonConfigMapNotFound, names: []string{"no keys"}},
		"what Vector refuses":   {object: objects.NewConfigMap("shipping", "shop", "vector.yaml", "sources: {}"), reason: meta.ReasonInvalidConfig, names: []string{"ConfigMap shop/shipping vector.yaml:1:1: ", "sources"}},
		"what is not even YAML": {object: objects.NewConfigMap("shipping", "shop", "vector.yaml", "a: [\n"), reason: meta.ReasonInvalidConfig, names: []string{"ConfigMap shop/shipping vector.yaml:1:1: ", "YAML"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := snapshot(t, logs().WithConfigMap("shipping", test.key).Build(), cart())
			s.ConfigMaps = only("shipping", test.object)

			decided := decide(t, s)

			require.Equal(t, "shipping", decided.ReferencedConfigMap, "it has to be watched, also when it is not there")
			if test.reason == "" {
				require.Nil(t, decided.Invalid)
				require.Len(t, decided.Companions, 1)
				return
			}
			require.NotNil(t, decided.Invalid)
			require.Equal(t, test.reason, decided.Invalid.Reason)
			for _, part := range test.names {
				require.Contains(t, decided.Invalid.Message, part)
			}
		})
	}
}

// A companion is created before workloads are written, and deleted after their rollouts no longer need it.
func TestDecide_KeepsCompanionsWhileWorkloadsNeedThem(t *testing.T) {
	s := snapshot(t, logs().Build(), cart())
	old := corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "logs-vector-old"}}
	s.Companions = []corev1.ConfigMap{old}

	first := decide(t, s)
	require.Len(t, first.Companions, 1)
	require.Equal(t, first.Companions, first.Missing)
	require.Empty(t, first.Obsolete, "the workload may still run with the old one")

	carried(s, &first.Plans[0])
	s.Companions = append(s.Companions, written(first.Companions)...)
	change(s, func(v *workload.View) { v.Rollout = workload.RolloutProgressing })
	rolling := decide(t, s)
	require.Equal(t, plan.None, rolling.Plans[0].Change)
	require.Empty(t, rolling.Missing)
	require.Empty(t, rolling.Obsolete, "old pods are still there")

	change(s, func(v *workload.View) { v.Rollout = workload.RolloutComplete })
	require.Equal(t, []string{"logs-vector-old"}, decide(t, s).Obsolete)

	s.Sidecar = logs().Disabled().Build()
	require.Empty(t, decide(t, s).Obsolete, "the workload still carries the sidecar")
	change(s, func(v *workload.View) { v.Owned = nil })
	require.ElementsMatch(t, []string{"logs-vector-old", first.Companions[0].Name}, decide(t, s).Obsolete)
}

// Two VectorSidecars use the same container name. The older one is injected, and the younger one reports a conflict.
func TestDecide_PrefersOlderForContainerName(t *testing.T) {
	young, old := logs().Build(), objects.NewVectorSidecar("audit", "shop").MatchingAll().Build()
	young.CreationTimestamp = metav1.NewTime(time.Unix(200, 0))
	old.CreationTimestamp = metav1.NewTime(time.Unix(100, 0))

	s := snapshot(t, young, cart())
	s.Others = []v1alpha1.VectorSidecar{*old}
	decided := decide(t, s)
	require.Equal(t, plan.ActionConflict, decided.Plans[0].Action())
	require.Contains(t, decided.Plans[0].Message(), "audit")

	s = snapshot(t, old, cart())
	s.Others = []v1alpha1.VectorSidecar{*young}
	require.Equal(t, plan.Inject, decide(t, s).Plans[0].Change)

	s = snapshot(t, logs().Named("shipper").Build(), cart())
	s.Others = []v1alpha1.VectorSidecar{*old}
	require.Equal(t, plan.Inject, decide(t, s).Plans[0].Change, "another name is not a conflict")
}

// Decisions with the shared cache equal decisions without a cache.
func TestDecide_SharesCacheBetweenVectorSidecars(t *testing.T) {
	memory := newMemory()
	reaching := objects.NewDeployment("reaching", "shop").Labeled("logs", "vector").WithEmptyDir("logs", "/var/log/app").Build()
	for name, vs := range map[string]*v1alpha1.VectorSidecar{
		"plain":       logs().Build(),
		"with logs":   logs().WithLogs("/var/log/app").Build(),
		"in staging":  logs().InEnvironment("staging").Build(),
		"named":       logs().Named("shipper").Build(),
		"with values": logs().WithValues(map[string]any{"a": 1}).Build(),
		"elsewhere":   objects.NewVectorSidecar("logs", "warehouse").Selecting("logs", "vector").Build(),
	} {
		t.Run(name, func(t *testing.T) {
			s := snapshot(t, vs, cart(), reaching)
			want := decide(t, s)
			for range 2 {
				got := memory.decide(t, s)
				require.Equal(t, want, got)
			}
		})
	}
}

func TestDecide_CachesNothingIfCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	memory := newMemory()
	s := snapshot(t, logs().Build(), cart())

	_, err := decision.Decide(ctx, s, memory.cache)
	require.ErrorIs(t, err, context.Canceled)

	decided := memory.decide(t, s)
	require.Nil(t, decided.Invalid, "nothing is remembered of a rendering that was cut short")
}

func TestDecide_WarnsIfSidecarCollectsNothing(t *testing.T) {
	logDir := func(path string) *objects.Deployment {
		return objects.NewDeployment("cart", "shop").Labeled("logs", "vector").WithEmptyDir("logs", path)
	}
	reads := func(path string) string {
		return "sources: {in: {type: file, include: [" + path + "]}}\nsinks: {out: {type: blackhole, inputs: [in]}}\n"
	}
	for name, test := range map[string]struct {
		sidecar  *objects.VectorSidecar
		workload *objects.Deployment
		want     string
	}{
		"only its own metrics":        {logs(), logDir("/var/log/app"), "set sidecar.logs.path or sidecar.otlp.enabled"},
		"the logs of the application": {logs().WithLogs("/var/log/app"), logDir("/var/log/app"), ""},
		"OpenTelemetry": {logs().Sidecar(func(s *v1alpha1.SidecarSpec) {
			enabled := true
			s.OTLP = &v1alpha1.OTLPSpec{Enabled: &enabled}
		}), logDir("/var/log/app"), ""},
		"files of its own file system":                 {logs().WithInlineConfig(reads("/var/log/app/*.log")), logDir("/var/log/app"), "/var/log/app/*.log"},
		"files on a volume that it shares with nobody": {logs().WithInlineConfig(reads("/app/*.log")).WithEmptyDir("own", "/app"), logDir("/var/log/app"), "/app/*.log"},
		"a source that listens":                        {logs().WithInlineConfig(objects.VectorConfig("x")), logDir("/var/log/app"), ""},
		"a configuration of another file":              {logs().Sidecar(func(s *v1alpha1.SidecarSpec) { s.Args = []string{"--config-dir", "/x"} }), logDir("/var/log/app"), ""},
		"another folder at /etc/vector":                {logs().WithEmptyDir("own", "/etc/vector"), logDir("/var/log/app"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := snapshot(t, test.sidecar.Build(), test.workload.Build())
			warning := decide(t, s).Plans[0].Warning
			if test.want == "" {
				require.Empty(t, warning)
				return
			}
			require.Contains(t, warning, "collects no data from its application")
			require.Contains(t, warning, test.want)
		})
	}
}

// With reload Live, new content does not change the pod template. It is an update of the sidecar, neither drift nor a
// correction loop.
func TestDecide_UpdatesLiveConfigWithoutDrift(t *testing.T) {
	live := func(text string) *v1alpha1.VectorSidecar {
		vs := logs().WithInlineConfig(objects.VectorConfig(text)).Sidecar(func(s *v1alpha1.SidecarSpec) { s.Reload = v1alpha1.ReloadLive }).Build()
		vs.Spec.DriftPolicy = v1alpha1.DriftReport
		return vs
	}
	s := snapshot(t, live("first"), cart())
	first := decide(t, s).Plans[0]
	carried(s, &first)
	s.CorrectionLoops = map[types.UID]decision.CorrectionLoop{s.Workloads[0].UID: {InjectedHash: first.Desired.InjectedHash(), Writes: 4}}

	s.Sidecar = live("second")
	second := decide(t, s).Plans[0]

	require.Equal(t, plan.Update, second.Change, second.Message())
	require.NotEqual(t, first.Desired.InjectedHash(), second.Desired.InjectedHash())
	require.Equal(t, first.Write.Apply["spec"], second.Write.Apply["spec"], "no pod starts anew")
}

// Only the first of two VectorSidecars writes annotations whose keys lack its name. When the first one is deleted, the
// second one writes them. That is no drift.
func TestDecide_MovesPlainAnnotationsWithoutDrift(t *testing.T) {
	vs := logs().Build()
	vs.Spec.DriftPolicy = v1alpha1.DriftReport
	s := snapshot(t, vs, cart())
	change(s, func(v *workload.View) {
		v.Owned = map[string]workload.OwnedFields{"vectorsidecar/audit": {HasPlainAnnotations: true}}
	})
	beside := decide(t, s).Plans[0]
	carried(s, &beside)
	change(s, func(v *workload.View) {
		owned := v.Owned[beside.Manager]
		owned.HasPlainAnnotations = false
		v.Owned[beside.Manager] = owned
	})

	require.Equal(t, plan.Update, decide(t, s).Plans[0].Change)
}

// If another client owns a ConfigMap with the name of a companion, the VectorSidecar writes neither workloads nor other
// companions.
func TestDecide_StopsAllWritesOnConfigMapConflict(t *testing.T) {
	s := snapshot(t, logs().Build(), cart())
	configMaps := objects.ConfigMapSet{}
	s.ConfigMaps = configMaps
	for _, made := range decide(t, s).Companions {
		configMaps[inShop(made.Name)] = objects.NewConfigMap(made.Name, "shop", "x", "theirs")
	}

	decided := decide(t, s)

	require.Equal(t, meta.ReasonConflict, decided.Invalid.Reason)
	require.Empty(t, decided.Missing)
	require.False(t, decided.Plans[0].Writes())
}

// The pod template of one workload cannot be decoded. Only that workload is blocked, and the VectorSidecar has no
// error.
func TestDecide_BlocksWorkloadWithUnreadableTemplate(t *testing.T) {
	s := snapshot(t, objects.NewVectorSidecar("logs", "shop").Selecting("logs", "vector").WithLogs("/srv/app/logs").Build(), cart())
	change(s, func(v *workload.View) {
		v.Unread.Template, v.Containers, v.Volumes = "spec.template.spec.volumes cannot be read", nil, nil
	})

	decided := decide(t, s)

	require.Nil(t, decided.Invalid)
	require.Equal(t, plan.ActionBlocked, decided.Plans[0].Action())
	require.Equal(t, meta.ReasonBlocked, decided.Plans[0].Reason())
	require.Contains(t, decided.Plans[0].Message(), "spec.template.spec.volumes cannot be read")
	require.Equal(t, 1, decided.Matched)
}
