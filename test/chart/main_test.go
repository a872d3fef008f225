// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/test/controlplane"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

const (
	root      = "../.."
	chartDir  = root + "/chart"
	release   = "vso"
	namespace = "vector-system"
	fullname  = release + "-vector-sidecar-operator"
	crdName   = "vectorsidecars.observability.kontroloop.ai"
	crdFile   = "observability.kontroloop.ai_vectorsidecars.yaml"
)

// All tests share these, so they do not run in parallel. TestMain sets them.
var (
	plane   *controlplane.ControlPlane
	cluster client.Client
	// world is also the cluster.
	world *harness.World
	// callerFolder has the client certificate that the API server shows to webhooks.
	callerFolder string
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	folder, err := os.MkdirTemp("", "chart-")
	if err == nil {
		err = writeClient(folder)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "making the API server's client certificate:", err)
		os.Exit(1)
	}
	callerFolder = folder
	options := controlplane.Options{Controllers: true, APIServerArgs: map[string]string{"admission-control-config-file": filepath.Join(folder, "admission.yaml")}}
	code := controlplane.Main(m, options, func(c *controlplane.ControlPlane) (func() error, error) {
		var err error
		known := runtime.NewScheme()
		if err := errors.Join(clientgoscheme.AddToScheme(known), v1alpha1.AddToScheme(known)); err != nil {
			return nil, err
		}
		if cluster, err = client.New(c.Config(), client.Options{Scheme: known}); err != nil {
			return nil, err
		}
		plane, world = c, &harness.World{Client: cluster, Config: c.Config()}
		for _, name := range []string{namespace, "shop", "pay"} {
			if err := cluster.Create(context.Background(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
				return nil, err
			}
		}
		class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "platform"}, Value: 1}
		runtimeClass := &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: "gvisor"}, Handler: "runsc"}
		return nil, errors.Join(cluster.Create(context.Background(), class), cluster.Create(context.Background(), runtimeClass), installOthersDefinitions(c))
	})
	_ = os.RemoveAll(folder)
	os.Exit(code)
}

// installOthersDefinitions installs the CustomResourceDefinitions of the Prometheus Operator and of cert-manager,
// because the chart has objects of their kinds.
func installOthersDefinitions(c *controlplane.ControlPlane) error {
	helm, err := c.Bin("helm")
	if err != nil {
		return err
	}
	_, err = envtest.InstallCRDs(c.Config(), envtest.CRDInstallOptions{
		Paths: []string{filepath.Join(filepath.Dir(helm), "crds")}, ErrorIfPathMissing: true,
	})
	if err != nil {
		return fmt.Errorf("installing definitions of others (run \"make bin/crds\" first): %w", err)
	}
	return nil
}

// helmVersion runs a version of Helm as the cluster administrator, and returns its output.
type helmVersion func(t *testing.T, args ...string) []byte

// helm4 runs Helm 4.
func helm4(t *testing.T, args ...string) []byte {
	t.Helper()
	stdout, stderr, err := tryProgram(t, "helm4", args...)
	require.NoError(t, err, "helm4 %s\n%s%s", strings.Join(args, " "), stdout, stderr)
	return []byte(stdout)
}

// helm runs Helm 3.
func helm(t *testing.T, args ...string) []byte {
	t.Helper()
	stdout, stderr, err := tryHelm(t, args...)
	require.NoError(t, err, "helm %s\n%s%s", strings.Join(args, " "), stdout, stderr)
	return []byte(stdout)
}

func tryHelm(t *testing.T, args ...string) (printed, complained string, err error) {
	t.Helper()
	return tryProgram(t, "helm", args...)
}

// tryProgram runs a version of helm without the settings of the user who runs the test.
func tryProgram(t *testing.T, name string, args ...string) (printed, complained string, err error) {
	t.Helper()
	bin, err := plane.Bin(name)
	require.NoError(t, err)
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), bin, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	home := t.TempDir()
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "HELM_") {
			cmd.Env = append(cmd.Env, variable)
		}
	}
	cmd.Env = append(cmd.Env, "KUBECONFIG="+plane.Kubeconfig(),
		"HELM_CACHE_HOME="+home, "HELM_CONFIG_HOME="+home, "HELM_DATA_HOME="+home)
	err = cmd.Run()
	return stdout.String(), stderr.String(), err
}

// environments returns the names and paths of the values files.
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

// kubectl runs kubectl as the cluster administrator, or as the user that the arguments name, and returns its
// output.
func kubectl(t *testing.T, args ...string) string {
	t.Helper()
	stdout, stderr, err := tryKubectl(t, args...)
	require.NoError(t, err, "kubectl %s\n%s%s", strings.Join(args, " "), stdout, stderr)
	return stdout
}

func tryKubectl(t *testing.T, args ...string) (printed, complained string, err error) {
	t.Helper()
	bin, err := plane.Bin("kubectl")
	require.NoError(t, err)
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), bin, append([]string{"--kubeconfig", plane.Kubeconfig()}, args...)...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	return stdout.String(), stderr.String(), err
}
