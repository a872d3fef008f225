// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/test/controlplane"
)

const (
	root      = "../.."
	chartDir  = root + "/chart"
	release   = "vso"
	namespace = "vector-system"
	fullname  = release + "-vector-sidecar-operator"
	crdName   = "vectorsidecars.observability.kontroloop.ai"
)

// Shared by all tests, which therefore do not run in parallel; set by TestMain.
var (
	plane   *controlplane.ControlPlane
	cluster client.Client
)

func TestMain(m *testing.M) {
	os.Exit(controlplane.Main(m, controlplane.Options{}, func(c *controlplane.ControlPlane) (func() error, error) {
		var err error
		if cluster, err = client.New(c.Config(), client.Options{}); err != nil {
			return nil, err
		}
		plane = c
		return nil, cluster.Create(context.Background(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
	}))
}

// helm runs helm as the cluster's administrator, away from the settings of
// whoever runs the test, and returns what it prints.
func helm(t *testing.T, args ...string) []byte {
	t.Helper()
	bin, err := plane.Bin("helm")
	require.NoError(t, err)
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), bin, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	home := t.TempDir()
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "HELM_") {
			cmd.Env = append(cmd.Env, variable)
		}
	}
	cmd.Env = append(cmd.Env, "KUBECONFIG="+plane.Kubeconfig(),
		"HELM_CACHE_HOME="+home, "HELM_CONFIG_HOME="+home, "HELM_DATA_HOME="+home)
	require.NoError(t, cmd.Run(), "helm %s\n%s%s", strings.Join(args, " "), &stdout, &stderr)
	return stdout.Bytes()
}

// environments are the names and paths of the values files.
func environments(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob(root + "/values/*.yaml")
	require.NoError(t, err)
	found := map[string]string{}
	for _, file := range files {
		found[strings.TrimSuffix(filepath.Base(file), ".yaml")] = file
	}
	require.Contains(t, found, "development")
	require.Contains(t, found, "staging")
	require.Contains(t, found, "production")
	return found
}
