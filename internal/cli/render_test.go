// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// run runs the plugin in a folder with files. Its output is tested in test/golden.
func run(t *testing.T, files map[string]string, arguments ...string) (string, error) {
	t.Helper()
	return runWith(t, files, "", arguments...)
}

// runWith is run with a standard input.
func runWith(t *testing.T, files map[string]string, input string, arguments ...string) (string, error) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	}
	var out bytes.Buffer
	command := New(genericiooptions.IOStreams{In: strings.NewReader(input), Out: &out, ErrOut: &out}, Builtin{Chart: vectorsidecar.FS, Definition: vectorsidecar.Definition}, "test")
	command.SetArgs(arguments)
	err := command.ExecuteContext(t.Context())
	return out.String(), err
}

func text(t *testing.T, object any) string {
	t.Helper()
	printed, err := yaml.Marshal(object)
	require.NoError(t, err)
	return string(printed)
}

func shopFiles(t *testing.T) map[string]string {
	t.Helper()
	return map[string]string{
		"cart.yaml": text(t, objects.NewDeployment("cart", "shop").Build()),
		"logs.yaml": text(t, objects.NewVectorSidecar("logs", "shop").Selecting("logs", "vector").Build()),
	}
}

var renderCart = []string{"render", "-f", "cart.yaml", "--sidecar", "logs.yaml"}

// With --label, workloads get the label before a VectorSidecar selects them.
func TestNewRender_AppliesLabelFlag(t *testing.T) {
	before, err := run(t, shopFiles(t), renderCart...)
	require.NoError(t, err)
	require.NotContains(t, before, "name: vector\n")

	after, err := run(t, shopFiles(t), append(renderCart, "--label", "logs=vector")...)
	require.NoError(t, err)
	require.Contains(t, after, "name: vector\n")
}

// A workload in a file has no namespace. It gets that of the VectorSidecar, and workloads of other namespaces are left
// out.
func TestInputs_UsesNamespaceOfVectorSidecar(t *testing.T) {
	files := shopFiles(t)
	files["cart.yaml"] = text(t, objects.NewDeployment("cart", "").Labeled("logs", "vector").Build()) +
		"---\n" + text(t, objects.NewDeployment("cart", "warehouse").Labeled("logs", "vector").Build())

	out, err := run(t, files, renderCart...)

	require.NoError(t, err)
	require.Contains(t, out, "namespace: shop")
	require.NotContains(t, out, "warehouse")
}

func TestNewRender_IgnoresConfigMapOfOtherNamespace(t *testing.T) {
	files := shopFiles(t)
	files["cart.yaml"] = text(t, objects.NewDeployment("cart", "shop").Labeled("logs", "vector").Build()) +
		"---\n" + text(t, objects.NewConfigMap("shipping", "warehouse", "vector.yaml", objects.VectorConfig("x")))
	files["logs.yaml"] = text(t, objects.NewVectorSidecar("logs", "shop").Selecting("logs", "vector").WithConfigMap("shipping", "").Build())
	_, err := run(t, files, renderCart...)
	require.ErrorContains(t, err, "ConfigMap shop/shipping does not exist")

	files["cart.yaml"] += "---\n" + text(t, objects.NewConfigMap("shipping", "", "vector.yaml", objects.VectorConfig("x")))
	_, err = run(t, files, renderCart...)
	require.NoError(t, err)
}

// If a file cannot be read or parsed, the error names the file.
func TestNewRender_NamesInvalidFiles(t *testing.T) {
	for name, test := range map[string]struct {
		change    func(map[string]string)
		arguments []string
		names     []string
	}{
		"a file that is not there":         {change: func(f map[string]string) { delete(f, "cart.yaml") }, names: []string{"cart.yaml"}},
		"values that are not there":        {arguments: []string{"--values", "none.yaml"}, names: []string{"none.yaml"}},
		"templates that are not there":     {arguments: []string{"--templates", "none"}, names: []string{"none"}},
		"no VectorSidecar":                 {change: func(f map[string]string) { f["logs.yaml"] = "" }, names: []string{"logs.yaml", "VectorSidecar"}},
		"what is not YAML":                 {change: func(f map[string]string) { f["cart.yaml"] += "---\na: [\n" }, names: []string{"cart.yaml: document 2"}},
		"a workload twice":                 {change: func(f map[string]string) { f["cart.yaml"] += "---\n" + f["cart.yaml"] }, names: []string{"cart.yaml: document 2: Deployment shop/cart is also in cart.yaml: document 1: remove one of them"}},
		"a field that does not exist":      {change: func(f map[string]string) { f["logs.yaml"] += "spek: {}\n" }, names: []string{"logs.yaml: document 1", "spek"}},
		"a version that is none":           {arguments: []string{"--label", "logs=vector", "--kube-version", "latest"}, names: []string{"latest"}},
		"an environment that is not known": {arguments: []string{"--environment", "stagin"}, names: []string{"stagin", "staging"}},
	} {
		t.Run(name, func(t *testing.T) {
			files := shopFiles(t)
			if test.change != nil {
				test.change(files)
			}
			_, err := run(t, files, append(renderCart[:len(renderCart):len(renderCart)], test.arguments...)...)
			require.Error(t, err)
			for _, part := range test.names {
				require.ErrorContains(t, err, part)
			}
		})
	}
}

// A symlink from the directory of templates to an outside file is an error.
func TestNewRender_RejectsTemplatesOutsideDirectory(t *testing.T) {
	folder, outside := t.TempDir(), t.TempDir()
	require.NoError(t, os.CopyFS(folder, vectorsidecar.FS))
	secret := filepath.Join(outside, "secret.txt")
	require.NoError(t, os.WriteFile(secret, []byte("x"), 0o600))
	arguments := append(slices.Clip(renderCart), "--label", "logs=vector", "--templates", folder)
	_, err := run(t, shopFiles(t), arguments...)
	require.NoError(t, err)

	require.NoError(t, os.Symlink(secret, filepath.Join(folder, "files.txt")))
	_, err = run(t, shopFiles(t), arguments...)
	require.ErrorContains(t, err, "files.txt")
	require.ErrorContains(t, err, "escapes")
}

// A ClusterVectorSidecar requires a label of a namespace, and no file contains the namespace. A note names it.
func TestNewRender_NamesNamespacesWithUnknownLabels(t *testing.T) {
	platform := &v1alpha1.ClusterVectorSidecar{TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "ClusterVectorSidecar"}}
	platform.Name, platform.Spec.NamespaceSelector.MatchLabels, platform.Spec.MatchAll = "platform", map[string]string{"team": "a"}, true
	files := shopFiles(t)
	files["cart.yaml"] += "---\n" + text(t, objects.NewDeployment("front", "web").Build())
	files["logs.yaml"] = text(t, platform)

	out, err := run(t, files, renderCart...)

	require.NoError(t, err)
	require.Contains(t, out, "the labels of these namespaces are unknown, because the files do not contain them, and a ClusterVectorSidecar that requires a label does not select them: shop, web\n")
}

// Two VectorSidecars select the same workload. The command render prints it with both sidecars.
func TestNewRender_MergesSeveralVectorSidecars(t *testing.T) {
	files := shopFiles(t)
	files["logs.yaml"] += "---\n" + text(t, objects.NewVectorSidecar("traces", "shop").Selecting("logs", "vector").Named("tracer").
		Sidecar(func(s *v1alpha1.SidecarSpec) {
			s.Metrics = &v1alpha1.MetricsSpec{Port: ptr.To(int32(9599))}
			s.Health = &v1alpha1.HealthSpec{Port: ptr.To(int32(8687))}
		}).Build())

	out, err := run(t, files, append(renderCart, "--label", "logs=vector")...)

	require.NoError(t, err)
	require.Contains(t, out, "name: vector\n")
	require.Contains(t, out, "name: tracer\n")
	require.Contains(t, out, "injected-hash.traces")
}
