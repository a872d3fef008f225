// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package golden

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	"sigs.k8s.io/yaml"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
	"kontroloop.ai/vector-sidecar-operator/internal/simulate"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// looser are the scenarios whose author asks for less than restricted.
var looser = map[string]bool{"less-than-restricted": true}

// unrestricted are the scenarios whose application is not restricted itself.
var unrestricted = map[string]bool{"host-network-allowed": true, "host-network-skipped": true}

// If an application meets the restricted Pod Security level, it still does with the sidecar of each scenario.
func TestInject_KeepsRestrictedPodSecurity(t *testing.T) {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	require.NoError(t, err)
	restricted := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
	verdict := func(deployment *appsv1.Deployment) *policy.AggregateCheckResult {
		pod := &deployment.Spec.Template
		result := policy.AggregateCheckResults(evaluator.EvaluatePod(restricted, &pod.ObjectMeta, &pod.Spec))
		return &result
	}
	for _, s := range scenarios(t) {
		merged, ok := s.file(wantYAML)
		if !ok {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			given, _ := s.file("workload.yaml")
			var before string
			for _, deployment := range deployments(t, given) {
				before = verdict(deployment).ForbiddenDetail()
				require.Equal(t, unrestricted[s.name], before != "", "where the application itself is not restricted, less is shown: %s", before)
			}
			found := deployments(t, merged)
			require.NotEmpty(t, found)
			for _, deployment := range found {
				after := verdict(deployment).ForbiddenDetail()
				require.Equal(t, !looser[s.name], before == after, after)
			}
		})
	}
}

// After an injection, the next plan has no change. After the removal, the workload equals the original.
func TestInject_IsStableAndReversible(t *testing.T) {
	merger, err := simulate.New()
	require.NoError(t, err)
	for _, s := range scenarios(t) {
		if _, ok := s.file(wantYAML); !ok {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			given, _ := s.file("workload.yaml")
			before := deployments(t, given)
			snapshot := s.snapshot(t, before)
			carried := 0
			for _, p := range decide(t, snapshot) {
				if !p.HasChange(plan.Inject) {
					continue
				}
				carried++
				original := find(t, before, p.Target.Name)

				injected := carryOut(t, merger, original, &p)
				snapshot.Workloads = []*workloadcache.Record{workloadcache.NewRecord(injected)}
				again := decide(t, snapshot)
				require.Len(t, again, 1)
				require.Equal(t, plan.None, again[0].Change, again[0].Message())

				view := snapshot.Workloads[0].View()
				removal := plan.ForRemoval(p.Manager, &view)
				require.Equal(t, plan.Remove, removal.Change)
				after := carryOut(t, merger, injected, &removal)
				require.Empty(t, cmp.Diff(original.Spec, after.Spec))
				require.Equal(t, original.Annotations, after.Annotations)
			}
			t.Logf("%d of %d workloads injected", carried, len(before))
		})
	}
}

// The generated ConfigMaps in the expected outcomes have names and labels that the API server accepts.
func TestWriteCompanion_HasValidNameAndLabelsInScenarios(t *testing.T) {
	for _, s := range scenarios(t) {
		text, _ := s.file(wantYAML)
		for _, document := range documents(t, text) {
			object := &metav1.PartialObjectMetadata{}
			require.NoError(t, yaml.Unmarshal(document, object))
			require.Empty(t, validation.IsDNS1123Subdomain(object.Name), "%s: %s", s.name, object.Name)
			require.Empty(t, metav1validation.ValidateLabels(object.Labels, nil), s.name)
		}
	}
}

func carryOut(t *testing.T, merger *simulate.Merger, deployment *appsv1.Deployment, p *plan.Plan) *appsv1.Deployment {
	t.Helper()
	merged, err := merger.Workload(deployment, p)
	require.NoError(t, err)
	text, err := json.Marshal(merged)
	require.NoError(t, err)
	result := &appsv1.Deployment{}
	require.NoError(t, json.Unmarshal(text, result))
	return result
}

func decide(t *testing.T, snapshot *decision.Input) []plan.Plan {
	t.Helper()
	decided, err := decision.Decide(t.Context(), snapshot, nil)
	require.NoError(t, err)
	require.Nil(t, decided.Invalid)
	return decided.Plans
}

func (s *scenario) snapshot(t *testing.T, of []*appsv1.Deployment) *decision.Input {
	t.Helper()
	chart, err := render.LoadChart(vectorsidecar.FS)
	require.NoError(t, err)
	text, _ := s.file("vectorsidecar.yaml")
	sidecar := &v1alpha1.VectorSidecar{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(text), sidecar.Strict()))
	configMaps, _ := s.file("configmaps.yaml")
	set := objects.ConfigMapSet{}
	snapshot := &decision.Input{Inputs: desired.Inputs{
		Sidecar:    sidecar,
		Settings:   desired.Settings{DefaultEnvironment: "development", KubeVersion: "v1.36.0"},
		ConfigMaps: set, Accounts: source.Reader{Reader: source.NewObjectOverlay(nil)},
	}}
	for _, document := range documents(t, configMaps) {
		object := &corev1.ConfigMap{}
		require.NoError(t, yaml.Unmarshal(document, object))
		set[types.NamespacedName{Namespace: sidecar.Namespace, Name: object.Name}] = object
	}
	if name, ok := s.file("environment"); ok {
		snapshot.DefaultEnvironment = strings.TrimSpace(name)
	}
	if version, ok := s.file("kube-version"); ok {
		snapshot.KubeVersion = strings.TrimSpace(version)
	}
	if version, ok := s.file("kubelet-version"); ok {
		snapshot.OldestKubelet.Version = strings.TrimSpace(version)
	}
	snapshot.Platform = desired.NewPlatform(chart, "values.yaml", s.installation(t, snapshot.DefaultEnvironment))
	for _, deployment := range of {
		snapshot.Workloads = append(snapshot.Workloads, workloadcache.NewRecord(deployment))
	}
	return snapshot
}

// installation is the layer of the installation for an environment, by file.
func (s *scenario) installation(t *testing.T, environment string) map[string]string {
	t.Helper()
	values, ok := s.file("values.yaml")
	if !ok {
		return nil
	}
	var given struct {
		Policy map[string]any `json:"policy"`
	}
	_ = yaml.Unmarshal([]byte(values), &given) // Some are no YAML, which is what their scenario is about.
	policy, err := yaml.Marshal(given.Policy)
	require.NoError(t, err)
	return map[string]string{environment + ".yaml": values, desired.PolicyKey: string(policy)}
}

func deployments(t *testing.T, text string) []*appsv1.Deployment {
	t.Helper()
	var all []*appsv1.Deployment
	for _, document := range documents(t, text) {
		deployment := &appsv1.Deployment{}
		require.NoError(t, yaml.Unmarshal(document, deployment))
		if deployment.Kind == "Deployment" {
			all = append(all, deployment)
		}
	}
	return all
}

func find(t *testing.T, among []*appsv1.Deployment, name string) *appsv1.Deployment {
	t.Helper()
	for _, deployment := range among {
		if deployment.Name == name {
			return deployment
		}
	}
	require.Fail(t, "no such Deployment", name)
	return nil
}

func documents(t *testing.T, text string) [][]byte {
	t.Helper()
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader([]byte(text))))
	var all [][]byte
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		all = append(all, document)
	}
}
