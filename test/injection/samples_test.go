// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package injection

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// byTheOperator has the samples that the API server cannot inject, with the reason.
var byTheOperator = map[string]string{
	"10-disabled.yaml":   "",
	"12-log-volume.yaml": "no workload with the sidecar mounts a volume at sidecar.logs.path yet",
}

// The API server injects the sidecar of each sample in docs/samples, except those in byTheOperator. The injected
// sidecar equals the sidecar that the operator would write.
func TestOverlaySet_InjectsSamples(t *testing.T) {
	t.Parallel()
	root, err := harness.Root()
	require.NoError(t, err)
	files, err := filepath.Glob(filepath.Join(root, "docs", "samples", "*.yaml"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		if strings.HasPrefix(filepath.Base(file), "16-") {
			continue // TestClusterVectorSidecar_InjectsAtAdmission has a ClusterVectorSidecar.
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			namespace := world.Namespace(t)
			vs := applySample(t, file, namespace)
			application := func(name string) *appsv1.Deployment {
				builder := objects.NewDeployment(name, namespace).WithReplicas(0)
				if vs.Name != "log-volume" {
					builder.WithEmptyDir("logs", "/var/log/app")
				}
				made := builder.Build()
				for i := range made.Spec.Template.Spec.Volumes { // See TestOverlaySet_AnnotatesVolumesInEveryPod.
					made.Spec.Template.Spec.Volumes[i].EmptyDir.Medium = corev1.StorageMediumMemory
				}
				made.Labels = labelsFor(&vs.Spec.Selector)
				return made
			}
			why, isLeftOut := byTheOperator[filepath.Base(file)]
			first := application("first")
			world.Create(t, first)
			if isLeftOut {
				if why != "" {
					harness.Until(t, world, first, "the operator's sidecar", func(d *appsv1.Deployment) bool { return isAdopted(vs.Name)(d) })
					require.Contains(t, awaitSkipReason(t, vs), why)
				}
				return
			}
			harness.Until(t, world, first, "the sidecar", func(d *appsv1.Deployment) bool { return isAdopted(vs.Name)(d) })
			awaitOverlay(t, vs)
			container := "vector"
			if vs.Spec.Sidecar != nil && vs.Spec.Sidecar.Name != "" {
				container = vs.Spec.Sidecar.Name
			}
			second := application("second")
			untilActive(t, second, container)
			world.Create(t, second)
			before := second.Spec.Template.DeepCopy()
			require.True(t, has(second, container))
			took := costOf(t, application("third"))
			require.True(t, took.matches)
			t.Logf("cost of a create: %s", took)
			harness.Until(t, world, second, "the adoption by the operator", func(d *appsv1.Deployment) bool { return isAdopted(vs.Name)(d) })
			require.Equal(t, before, &second.Spec.Template, "as the API server put it in")
			world.Get(t, first)
			require.Equal(t, first.Spec.Template.Spec, second.Spec.Template.Spec, "as the operator injects it")
			require.Equal(t, first.Spec.Template.Annotations, second.Spec.Template.Annotations)
		})
	}
}

// applySample creates the objects of a sample in a namespace and returns its VectorSidecar.
func applySample(t *testing.T, file, namespace string) *v1alpha1.VectorSidecar {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var rest []string
	vs := &v1alpha1.VectorSidecar{}
	for _, document := range strings.Split(string(text), "\n---\n") {
		var kind metav1.TypeMeta
		require.NoError(t, yaml.Unmarshal([]byte(document), &kind))
		if kind.Kind != "VectorSidecar" {
			rest = append(rest, strings.ReplaceAll(document, "namespace: shop", "namespace: "+namespace))
			continue
		}
		require.NoError(t, yaml.Unmarshal([]byte(document), vs))
		vs.Namespace = namespace
	}
	if len(rest) > 0 {
		mustKubectl(t, namespace, strings.Join(rest, "\n---\n"), "apply")
	}
	require.NoError(t, world.Client.Create(t.Context(), vs, client.FieldOwner("samples")))
	return vs
}

// labelsFor returns labels that a selector matches.
func labelsFor(selector *metav1.LabelSelector) map[string]string {
	labels := map[string]string{"any": "thing"}
	maps.Copy(labels, selector.MatchLabels)
	for _, expression := range selector.MatchExpressions {
		if len(expression.Values) > 0 && expression.Operator == metav1.LabelSelectorOpIn {
			labels[expression.Key] = expression.Values[0]
		}
	}
	return labels
}
