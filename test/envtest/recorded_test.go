// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/yaml"

	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

var update = flag.Bool("update", false, "record the statuses for the health checks of Argo CD and Flux")

// recordings has statuses that the operator has written. internal/status runs the health checks of the pages over them.
const recordings = "../../internal/status/testdata/recorded"

// changing finds the texts of a status that differ in each run.
var changing = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`\btestclustervectorsidecar-[a-z0-9-]+`), "logs"},
	{regexp.MustCompile(`\btest-[a-z0-9]{5}\b`), "shop"}, // Namespaces.
	{regexp.MustCompile(`\b(app|cart)(-\d+)?-[a-z0-9]{8,10}-[a-z0-9]{5}\b`), "$1$2-pod"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:.]+Z`), "2026-11-30T12:00:00Z"},
}

// requireRecorded waits until the conditions of an object have the types, statuses and reasons of a recording. With
// -update it records the object instead.
func requireRecorded(t *testing.T, name string, object client.Object) {
	t.Helper()
	file := filepath.Join(recordings, name+".yaml")
	if *update {
		record(t, file, object)
		return
	}
	text, err := os.ReadFile(file)
	require.NoError(t, err, "run the test with -update")
	var recorded unstructured.Unstructured
	require.NoError(t, yaml.Unmarshal(text, &recorded))
	want := conditionsOf(t, recorded.Object)
	harness.Until(t, world, object, "the recorded conditions "+strings.Join(want, ", "), func(object client.Object) bool {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
		require.NoError(t, err)
		return strings.Join(want, ", ") == strings.Join(conditionsOf(t, content), ", ")
	})
}

// conditionsOf returns the type, status and reason of each condition of an object.
func conditionsOf(t *testing.T, object map[string]any) (conditions []string) {
	t.Helper()
	list, _, err := unstructured.NestedSlice(object, "status", "conditions")
	require.NoError(t, err)
	for _, item := range list {
		var condition metav1.Condition
		require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(item.(map[string]any), &condition))
		conditions = append(conditions, condition.Type+"="+string(condition.Status)+" "+condition.Reason)
	}
	return conditions
}

// record writes the status of an object and the metadata that health checks read, without texts that differ in each run.
func record(t *testing.T, file string, object client.Object) {
	t.Helper()
	kind, err := apiutil.GVKForObject(object, world.Client.Scheme())
	require.NoError(t, err)
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	require.NoError(t, err)
	metadata := map[string]any{"name": "logs", "generation": object.GetGeneration()}
	if deleted := object.GetDeletionTimestamp(); deleted != nil {
		metadata["deletionTimestamp"] = deleted
	}
	text, err := yaml.Marshal(map[string]any{
		"apiVersion": kind.GroupVersion().String(), "kind": kind.Kind, "metadata": metadata, "status": content["status"],
	})
	require.NoError(t, err)
	for _, part := range changing {
		text = part.pattern.ReplaceAll(text, []byte(part.with))
	}
	header := "# SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors\n# SPDX-License-Identifier: Apache-2.0\n\n# Written by the tests of test/envtest with -update.\n"
	require.NoError(t, os.MkdirAll(recordings, 0o755))
	require.NoError(t, os.WriteFile(file, append([]byte(header), text...), 0o644))
}
