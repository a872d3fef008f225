// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package injection

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/test/controlplane"
)

// deployer applies a manifest as an application owner's tool does.
type deployer func(t *testing.T, namespace, manifest string)

// byApply is the deployer of tests that do not depend on the tool.
var byApply = byKubectl("apply")

// deployers are the tools of application owners.
var deployers = map[string]deployer{
	"apply":                    byApply,
	"server-side apply":        byKubectl("apply", "--server-side"),
	"forced server-side apply": byKubectl("apply", "--server-side", "--force-conflicts"),
	"helm upgrade":             byHelm,
}

func byKubectl(args ...string) deployer {
	return func(t *testing.T, namespace, manifest string) {
		t.Helper()
		mustKubectl(t, namespace, manifest, args...)
	}
}

// byHelm installs or upgrades release shop with a chart of the manifest.
func byHelm(t *testing.T, namespace, manifest string) {
	t.Helper()
	chart := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(chart, "Chart.yaml"), []byte("apiVersion: v2\nname: shop\nversion: 1.0.0\n"), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(chart, "templates"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(chart, "templates", "cart.yaml"), []byte(manifest), 0o600))
	helm(t, namespace, "upgrade", "--install", "shop", chart)
}

func helm(t *testing.T, namespace string, args ...string) {
	t.Helper()
	path, err := controlplane.Bin("helm")
	require.NoError(t, err)
	out, err := exec.CommandContext(t.Context(), path, append(args, "--kubeconfig", kubeconfig, "-n", namespace)...).CombinedOutput()
	require.NoError(t, err, "%v: %s", args, out)
}

// kubectl runs kubectl as an application owner.
func kubectl(t *testing.T, namespace, input string, args ...string) (string, error) {
	t.Helper()
	path, err := controlplane.Bin("kubectl")
	require.NoError(t, err)
	args = append([]string{"--kubeconfig", kubeconfig, "-n", namespace}, args...)
	if input != "" {
		file := filepath.Join(t.TempDir(), "manifest.yaml")
		require.NoError(t, os.WriteFile(file, []byte(input), 0o600))
		args = append(args, "-f", file)
	}
	out, err := exec.CommandContext(t.Context(), path, args...).CombinedOutput()
	return string(out), err
}

func mustKubectl(t *testing.T, namespace, input string, args ...string) string {
	t.Helper()
	out, err := kubectl(t, namespace, input, args...)
	require.NoError(t, err, "%v: %s", args, out)
	return out
}

// manifest returns an application owner's manifest of a Deployment. env is the environment of its container as a YAML
// flow sequence; empty means none.
func manifest(image, env string) string {
	return fmt.Sprintf(`apiVersion: apps/v1
kind: Deployment
metadata: {name: cart, labels: {logs: vector}}
spec:
  replicas: 1
  selector: {matchLabels: {app: cart}}
  template:
    metadata: {labels: {app: cart}}
    spec:
      containers:
        - {name: app, image: %q, env: %s}
`, image, cmp.Or(env, "null"))
}
