// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/operator"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// The tables in docs/architecture.md have the names and defaults of the code and the chart.
func TestDocs_ListNamesAndDefaultsOfCode(t *testing.T) {
	_, section, found := strings.Cut(read(t, "docs/architecture.md").prose, "\n## Names and differences\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")

	defaults, err := operator.ParseOptions(nil)
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(root, "chart", "values.yaml"))
	require.NoError(t, err)
	var chart struct {
		Resources corev1.ResourceRequirements `json:"resources"`
	}
	require.NoError(t, yaml.Unmarshal(text, &chart))
	require.Len(t, chart.Resources.Limits, 1, "the operator has a limit of CPU")
	require.Len(t, declared(t, "internal/controller/sidecar", "VectorSidecarReconciler"), 1)

	for _, name := range []string{
		"`" + telemetry.AttributeTemplateSet + "`", "`" + telemetry.AttributeResult + "`",
		fmt.Sprintf("about every %.0f minutes (`--reconcile-interval`)", defaults.ReconcileInterval.Minutes()),
		fmt.Sprintf("requests of %s and %s, a memory limit of %s, no CPU limit",
			chart.Resources.Requests.Cpu(), chart.Resources.Requests.Memory(), chart.Resources.Limits.Memory()),
	} {
		require.Contains(t, section, name)
	}
	for _, annotation := range []string{
		meta.AnnotationSidecarName, meta.AnnotationContainerName, meta.AnnotationInjected, meta.AnnotationInjectedHash, meta.AnnotationConfigMapVersion,
	} {
		require.Contains(t, section, "`"+strings.TrimPrefix(annotation, meta.Group+"/")+"`")
	}
}

// The comparison lists each kind of workload that the operator changes. It cannot change the pod template of a Job.
func TestDocs_NameKindsInComparison(t *testing.T) {
	_, row, found := strings.Cut(read(t, "docs/explanation/comparison.md").prose, "\n| Workload kinds |")
	require.True(t, found)
	row, _, _ = strings.Cut(row, "|")
	for _, kind := range workload.Kinds() {
		require.Equal(t, kind.Kind != "Job", strings.Contains(row, " "+kind.Kind+"s"), kind.Kind)
	}
}
