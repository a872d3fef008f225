// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/scenario"
)

// ownValuesComment is the first line of the example my-values.yaml.
const ownValuesComment = "# my-values.yaml\n"

// ownPolicyComment and ownRolloutComment begin the examples of a policy and of the pace of
// rollouts, as values of the installation.
const (
	ownPolicyComment  = "# my-policy.yaml\n"
	ownRolloutComment = "# my-rollout.yaml\n"
)

// ownMirrorComment is the first line of the example of an installation with images in a private registry.
const ownMirrorComment = "# my-mirror.yaml\n"

// ownVectorComment is the first line of the example of a Vector configuration.
const ownVectorComment = "# my-vector.yaml\n"

// foreignComment is the first line of objects of other projects. They are only parsed, because the repository does
// not have their definitions.
const foreignComment = "# of another project\n"

// Each YAML block of a page is a valid object, a Vector configuration without findings, valid values, a valid policy,
// or an object of another project.
func TestDocs_ContainOnlyValidExamples(t *testing.T) {
	for _, f := range fences(t, "yaml") {
		if _, isFile := fileOf(&f); isFile || strings.HasPrefix(f.text, ownValuesComment) {
			continue
		}
		if strings.HasPrefix(f.text, ownPolicyComment) || strings.HasPrefix(f.text, ownRolloutComment) || strings.HasPrefix(f.text, ownMirrorComment) || strings.HasPrefix(f.text, "vectorSidecars:\n") {
			requireValues(t, f)
			continue
		}
		if strings.HasPrefix(f.text, ownVectorComment) {
			file := filepath.Join(t.TempDir(), "my-vector.yaml")
			require.NoError(t, os.WriteFile(file, []byte(f.text), 0o600))
			shell(t, "bin/kubectl-vectorsidecar lint "+file)
			continue
		}
		if strings.HasPrefix(f.text, foreignComment) {
			for _, document := range strings.Split(f.text, "\n---\n") {
				var object metav1.PartialObjectMetadata
				require.NoError(t, yaml.Unmarshal([]byte(document), &object), f.at())
				require.NotEmpty(t, object.Kind+object.APIVersion+object.Name, f.at())
				require.NotContains(t, object.APIVersion, v1alpha1.GroupVersion.Group, f.at())
			}
			continue
		}
		if strings.HasPrefix(f.text, "- {object: ") {
			var expectations []scenario.Expectation
			require.NoError(t, yaml.UnmarshalStrict([]byte(f.text), &expectations), f.at())
			require.NotEmpty(t, expectations, f.at())
			continue
		}
		if strings.Contains(f.text, "\nkind: ResourceQuota\n") {
			var quota corev1.ResourceQuota
			require.NoError(t, yaml.UnmarshalStrict([]byte(f.text), &quota), f.at())
			require.Contains(t, quota.Spec.Hard, corev1.ResourceName("count/vectorsidecars."+v1alpha1.GroupVersion.Group), f.at())
			continue
		}
		if strings.Contains(f.text, "\nkind: ClusterVectorSidecar\n") {
			file := filepath.Join(t.TempDir(), "clustervectorsidecar.yaml")
			require.NoError(t, os.WriteFile(file, []byte(f.text), 0o600))
			shell(t, "bin/kubectl-vectorsidecar lint "+file)
			continue
		}
		var sidecar v1alpha1.VectorSidecar
		require.NoError(t, yaml.UnmarshalStrict([]byte(f.text), sidecar.Strict()), f.at())
		require.Equal(t, "VectorSidecar", sidecar.Kind, f.at())
		require.Equal(t, v1alpha1.GroupVersion.String(), sidecar.APIVersion, f.at())

		file := filepath.Join(t.TempDir(), "vectorsidecar.yaml")
		require.NoError(t, os.WriteFile(file, []byte(f.text), 0o600))
		shell(t, "bin/kubectl-vectorsidecar render -f docs/samples/app/deployment.yaml --label logs=vector --sidecar "+file)
	}
}

// requireValues reads values of an installation as the operator does, and requires that they allow their sample.
func requireValues(t *testing.T, f fence) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "my-values.yaml")
	require.NoError(t, os.WriteFile(file, []byte(f.text), 0o600))
	shell(t, "bin/kubectl-vectorsidecar render -f docs/samples/app/deployment.yaml --label logs=vector --sidecar docs/samples/02-logs.yaml --values "+file)
	shell(t, "bin/helm template vso chart -f "+file)
}

// ownValues writes the example values to a file.
func ownValues(t *testing.T) string {
	t.Helper()
	for _, f := range fences(t, "yaml") {
		if strings.HasPrefix(f.text, ownValuesComment) {
			file := filepath.Join(t.TempDir(), "my-values.yaml")
			require.NoError(t, os.WriteFile(file, []byte(f.text), 0o600))
			return file
		}
	}
	require.Fail(t, "no page shows my-values.yaml")
	return ""
}

// Each diff on a page is the difference between the outputs of the commands before and after it.
func TestDocs_ShowRealDiffs(t *testing.T) {
	diffs := slices.DeleteFunc(fences(t, "diff"), func(f fence) bool { return f.page == templatesPage })
	require.Len(t, diffs, 1)
	before := shell(t, "bin/kubectl-vectorsidecar render --environment staging -f docs/samples/app/deployment.yaml --sidecar docs/samples/02-logs.yaml")
	after := shell(t, "make -s render ENV=staging")
	requireChange(t, diffs[0].text, before, after)
	for line := range strings.SplitSeq(diffs[0].text, "\n") {
		if added, ok := strings.CutPrefix(line, "+"); ok && strings.Contains(added, "vector") {
			require.NotContains(t, before, strings.TrimSuffix(added, "…"), "an added line was there before")
		}
	}
}

// requireChange compares the lines of a diff with two outputs, in their order. "…" at the end of a line stands for
// its rest, and on its own line for omitted lines.
func requireChange(t *testing.T, diff, before, after string) {
	t.Helper()
	var old, merged []string
	for line := range strings.SplitSeq(diff, "\n") {
		if line == "…" {
			continue
		}
		text := line[1:]
		merged = append(merged, text)
		if line[0] != '+' {
			require.Equal(t, " ", line[:1], line)
			old = append(old, text)
		}
	}
	requireInOrder(t, old, before)
	requireInOrder(t, merged, after)
}

func requireInOrder(t *testing.T, shown []string, output string) {
	t.Helper()
	lines := strings.Split(output, "\n")
	for _, want := range shown {
		found := false
		for len(lines) > 0 && !found {
			prefix, isOpen := strings.CutSuffix(want, "…")
			found = lines[0] == want || isOpen && strings.HasPrefix(lines[0], prefix)
			lines = lines[1:]
		}
		require.True(t, found, "the output has no line %q after the ones shown before it", want)
	}
}
