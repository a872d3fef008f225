// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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

// changing finds the texts of a status that differ in each run, or with each change of the built-in chart.
var changing = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`\btestclustervectorsidecar-[a-z0-9-]+`), "logs"},
	{regexp.MustCompile(`\btest-[a-z0-9]{5}\b`), "shop"}, // Namespaces.
	{regexp.MustCompile(`\b(app|cart)(-\d+)?-[a-z0-9]{8,10}-[a-z0-9]{5}\b`), "$1$2-pod"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:.]+Z`), "2026-11-30T12:00:00Z"},
	{regexp.MustCompile(`\b[0-9a-f]{10}\b`), "0123456789"}, // Digests of revisions and ConfigMaps.
	{regexp.MustCompile(`\b[0-9a-f]{16}\b`), "0123456789abcdef"},
}

// requireRecorded waits until the object has a condition, such as "Ready=True UpToDate", and then until the states, reasons
// and messages of its status are those of a recording. With -update, it records the object instead.
func requireRecorded(t *testing.T, name string, object client.Object, condition string) {
	t.Helper()
	harness.Until(t, world, object, condition, func(object client.Object) bool {
		return slices.Contains(conditionsOf(t, object), condition)
	})
	file := filepath.Join(recordings, name+".yaml")
	if *update {
		header := "# SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors\n# SPDX-License-Identifier: Apache-2.0\n\n# Written by the tests of test/envtest with -update.\n"
		text, err := yaml.Marshal(recordingOf(t, object))
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll(recordings, 0o755))
		require.NoError(t, os.WriteFile(file, append([]byte(header), text...), 0o644))
		return
	}
	text, err := os.ReadFile(file)
	require.NoError(t, err, "run the test with -update")
	var recorded map[string]any
	require.NoError(t, yaml.Unmarshal(text, &recorded))
	want := textsOf(recorded)
	harness.Until(t, world, object, "the recording "+strings.Join(want, "\n")+"\n(run the test with -update)", func(object client.Object) bool {
		return slices.Equal(want, textsOf(recordingOf(t, object)))
	})
}

// conditionsOf returns the type, status and reason of each condition of an object.
func conditionsOf(t *testing.T, object client.Object) (conditions []string) {
	t.Helper()
	list, _, err := unstructured.NestedSlice(contentOf(t, object), "status", "conditions")
	require.NoError(t, err)
	for _, item := range list {
		var condition metav1.Condition
		require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(item.(map[string]any), &condition))
		conditions = append(conditions, condition.Type+"="+string(condition.Status)+" "+condition.Reason)
	}
	return conditions
}

func contentOf(t *testing.T, object client.Object) map[string]any {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	require.NoError(t, err)
	return content
}

// number finds numbers in messages. Some depend on time, such as that of workloads that have failed before a revert.
var number = regexp.MustCompile(`\d+`)

// textsOf returns the states, reasons and messages in a value without their numbers, sorted.
func textsOf(value any) (texts []string) {
	switch value := value.(type) {
	case map[string]any:
		for key, field := range value {
			if text, isText := field.(string); isText && slices.Contains([]string{"type", "status", "reason", "state", "message"}, key) {
				texts = append(texts, key+": "+number.ReplaceAllString(text, "0"))
			} else {
				texts = append(texts, textsOf(field)...)
			}
		}
	case []any:
		for _, item := range value {
			texts = append(texts, textsOf(item)...)
		}
	}
	slices.Sort(texts)
	return texts
}

// recordingOf returns the status of an object and the metadata that health checks read, without texts that differ in each
// run.
func recordingOf(t *testing.T, object client.Object) (recording map[string]any) {
	t.Helper()
	kind, err := apiutil.GVKForObject(object, world.Client.Scheme())
	require.NoError(t, err)
	metadata := map[string]any{"name": "logs", "generation": object.GetGeneration()}
	if deleted := object.GetDeletionTimestamp(); deleted != nil {
		metadata["deletionTimestamp"] = deleted
	}
	text, err := json.Marshal(map[string]any{
		"apiVersion": kind.GroupVersion().String(), "kind": kind.Kind, "metadata": metadata, "status": contentOf(t, object)["status"],
	})
	require.NoError(t, err)
	for _, part := range changing {
		text = part.pattern.ReplaceAll(text, []byte(part.with))
	}
	require.NoError(t, yaml.Unmarshal(text, &recording))
	return recording
}
