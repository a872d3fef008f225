// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/google/cel-go/cel"
	"github.com/stretchr/testify/require"
	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// gitOpsPage has the health checks for Argo CD and Flux.
const gitOpsPage = "../../docs/how-to/platform/gitops.md"

// gitOpsBlock decodes the object of a kind in the page.
func gitOpsBlock(t *testing.T, apiVersion, kind string, into any) {
	t.Helper()
	page, err := os.ReadFile(gitOpsPage)
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(page), "\napiVersion: "+apiVersion+"\nkind: "+kind+"\n")
	require.True(t, found, kind)
	text, _, _ := strings.Cut(rest, "\n```\n")
	require.NoError(t, yaml.Unmarshal([]byte(text), into))
}

// healthOfArgoCD returns the results of the scripts in the page, which Argo CD runs with the object as obj.
func healthOfArgoCD(t *testing.T, object *unstructured.Unstructured) (health string) {
	t.Helper()
	var configMap struct{ Data map[string]string }
	gitOpsBlock(t, "v1", "ConfigMap", &configMap)
	require.Len(t, configMap.Data, 2)
	for key, script := range configMap.Data {
		require.Contains(t, []string{"VectorSidecar", "ClusterVectorSidecar"}, strings.TrimPrefix(key, "resource.customizations.health.observability.kontroloop.ai_"))
		state := lua.NewState()
		t.Cleanup(state.Close)
		state.SetGlobal("obj", luaValue(state, object.Object))
		require.NoError(t, state.DoString(script))
		result, ok := state.Get(-1).(*lua.LTable)
		require.True(t, ok)
		got := lua.LVAsString(result.RawGetString("status"))
		require.NotEmpty(t, lua.LVAsString(result.RawGetString("message")))
		require.True(t, health == "" || health == got, "the scripts differ")
		health = got
	}
	return health
}

// luaValue returns a value of JSON as Lua has it.
func luaValue(state *lua.LState, value any) lua.LValue {
	switch value := value.(type) {
	case map[string]any:
		table := state.NewTable()
		for key, field := range value {
			table.RawSetString(key, luaValue(state, field))
		}
		return table
	case []any:
		table := state.NewTable()
		for _, item := range value {
			table.Append(luaValue(state, item))
		}
		return table
	case string:
		return lua.LString(value)
	case bool:
		return lua.LBool(value)
	case int64:
		return lua.LNumber(value)
	}
	return lua.LNil
}

// healthOfFlux returns the result of the expressions in the page, by Flux's rules: an unobserved generation is in
// progress, then the first expression that is true counts, and without one the object is in progress.
func healthOfFlux(t *testing.T, object *unstructured.Unstructured) status.Status {
	t.Helper()
	var kustomization struct {
		Spec struct {
			HealthCheckExprs []map[string]string `json:"healthCheckExprs"`
		} `json:"spec"`
	}
	gitOpsBlock(t, "kustomize.toolkit.fluxcd.io/v1", "Kustomization", &kustomization)
	kinds := slices.Collect(func(yield func(string) bool) {
		for _, expressions := range kustomization.Spec.HealthCheckExprs {
			yield(expressions["kind"])
		}
	})
	require.ElementsMatch(t, []string{"VectorSidecar", "ClusterVectorSidecar"}, kinds)
	observed, found, err := unstructured.NestedInt64(object.Object, "status", "observedGeneration")
	require.NoError(t, err)
	if found && observed != object.GetGeneration() {
		return status.InProgressStatus
	}
	result := status.InProgressStatus
	for _, expressions := range kustomization.Spec.HealthCheckExprs {
		result = firstTrue(t, expressions, object)
	}
	return result
}

// firstTrue evaluates the expressions of one kind in the order of Flux.
func firstTrue(t *testing.T, expressions map[string]string, object *unstructured.Unstructured) status.Status {
	t.Helper()
	environment, err := cel.NewEnv()
	require.NoError(t, err)
	for _, state := range []struct {
		key    string
		status status.Status
	}{{"inProgress", status.InProgressStatus}, {"failed", status.FailedStatus}, {"current", status.CurrentStatus}} {
		if expressions[state.key] == "" {
			continue
		}
		parsed, issues := environment.Parse(expressions[state.key])
		require.NoError(t, issues.Err())
		program, err := environment.Program(parsed)
		require.NoError(t, err)
		value, _, err := program.Eval(object.Object)
		require.NoError(t, err, expressions[state.key])
		if isHealthy, isBool := value.Value().(bool); isBool && isHealthy {
			return state.status
		}
	}
	return status.InProgressStatus
}

// argoCDHealth is the health in Argo CD for each status of kstatus.
var argoCDHealth = map[status.Status]string{
	status.CurrentStatus: "Healthy", status.InProgressStatus: "Progressing", status.FailedStatus: "Degraded",
}

// healthOf returns the status of an object in kstatus, and requires that the health checks of the page agree. They do not
// apply to an object that is being deleted: Argo CD reports it as progressing, and Flux waits for its deletion.
func healthOf(t *testing.T, object *unstructured.Unstructured) status.Status {
	t.Helper()
	result, err := status.Compute(object)
	require.NoError(t, err)
	if result.Status != status.TerminatingStatus {
		require.Equal(t, argoCDHealth[result.Status], healthOfArgoCD(t, object), "health in Argo CD")
		require.Equal(t, result.Status, healthOfFlux(t, object), "health in Flux")
	}
	return result.Status
}

// The recordings are statuses that the operator has written. The tests of test/envtest require that it still writes their
// conditions.
func TestNewSidecarStatus_MatchesKstatusInRecordings(t *testing.T) {
	want := map[string]status.Status{}
	for state, names := range map[status.Status][]string{
		status.CurrentStatus: {
			"ready", "no-match", "disabled", "deferred", "halted-before-its-wave", "cluster-ready", "cluster-waiting-for-wave",
		},
		status.InProgressStatus: {
			"soaking", "paused", "waiting-for-wave", "unschedulable", "cluster-rejected",
		},
		status.FailedStatus: {
			"crashing", "failed", "reverted", "halted", "conflict", "unknown-environment", "cluster-reverted", "cluster-halted",
		},
		status.TerminatingStatus: {"deletion-blocked"},
	} {
		for _, name := range names {
			want[name] = state
		}
	}
	files, err := filepath.Glob("testdata/recorded/*.yaml")
	require.NoError(t, err)
	got := map[string]status.Status{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var object unstructured.Unstructured
		require.NoError(t, yaml.Unmarshal(text, &object))
		got[strings.TrimSuffix(filepath.Base(file), ".yaml")] = healthOf(t, &object)
	}
	require.Equal(t, want, got)
}

// For Argo CD, a new VectorSidecar without a status is Progressing. For Flux this needs no test, because it repeats an
// expression that fails.
func TestNewSidecarStatus_IsProgressingForArgoCD(t *testing.T) {
	object := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"generation": int64(1)}}}
	require.Equal(t, "Progressing", healthOfArgoCD(t, object))
}
