// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package product

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/node"
)

const (
	root      = "../../.."
	release   = "vso"
	namespace = "vector-system"
	// operatorBefore is the operator of the release before.
	operatorBefore = "node.test/operator:before"
	eaterImage     = "node.test/eater:test"
	// rootImage is one whose user is root.
	rootImage = "node.test/root:test"
	// vectorAgain is node.Vector by another name.
	vectorAgain = "node.test/vector:again"
	// patience is how long a condition may take on a slow machine, a container that has to
	// be killed first included.
	patience = 3 * time.Minute
)

// Shared by all tests; set by TestMain.
var (
	machine *node.Node
	cluster client.Client
	world   *harness.World
	// vector is the real one, as the variable VECTOR names it, if any.
	vector = os.Getenv("VECTOR")
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	os.Exit(node.Main(m, prepare))
}

func prepare(ctx context.Context, n *node.Node) error {
	known := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(known), v1alpha1.AddToScheme(known)); err != nil {
		return err
	}
	var err error
	if cluster, err = client.New(n.Config(), client.Options{Scheme: known}); err != nil {
		return err
	}
	machine, world = n, &harness.World{Client: cluster, Config: n.Config()}
	programs, err := node.FromFiles([]string{"/programs", "eat"}, map[string]string{"/programs": n.Program()})
	if err != nil {
		return err
	}
	asRoot, err := node.AsRoot(programs)
	if err != nil {
		return err
	}
	if vector == "" {
		fmt.Println("SKIPPED: what only a real Vector shows: name one in VECTOR, a program or an image archive")
	}
	return errors.Join(n.ImportDefaults(ctx), n.Import(ctx, eaterImage, programs), n.Import(ctx, rootImage, asRoot), n.ImportVector(ctx, node.Vector), n.Tag(ctx, node.Vector, vectorAgain))
}

// needsVector skips a test that a stand-in has no part in.
func needsVector(t *testing.T) {
	t.Helper()
	if vector == "" {
		t.Skip("SKIPPED: it needs a real Vector: name one in VECTOR")
	}
}

// run runs one of the repository's programs as the cluster's administrator.
func run(t *testing.T, program string, args ...string) string {
	t.Helper()
	printed, err := try(t, program, args...)
	require.NoError(t, err, "%s %s\n%s", program, strings.Join(args, " "), printed)
	return printed
}

func try(t *testing.T, program string, args ...string) (string, error) {
	t.Helper()
	path, err := machine.Bin(program)
	require.NoError(t, err)
	command := exec.CommandContext(context.WithoutCancel(t.Context()), path, args...)
	home := t.TempDir()
	command.Env = append(os.Environ(), "KUBECONFIG="+machine.Kubeconfig(),
		"HELM_CACHE_HOME="+home, "HELM_CONFIG_HOME="+home, "HELM_DATA_HOME="+home)
	printed, err := command.CombinedOutput()
	return string(printed), err
}

// chart returns the arguments of helm install or helm upgrade for the chart, whose image is in the archive.
func chart(settings ...string) []string {
	return chartOf(root, settings...)
}

// chartOf is chart of the release whose chart and values are in a folder.
func chartOf(folder string, settings ...string) []string {
	args := []string{release, filepath.Join(folder, "chart"), "--namespace=" + namespace, "--create-namespace", "--wait", "--timeout=4m",
		"--values=" + filepath.Join(folder, "values", "development.yaml"),
		"--set=crds.keep=false"}
	for _, setting := range settings {
		args = append(args, "--set="+setting)
	}
	return args
}

// installed installs the chart until the test ends.
func installed(t *testing.T, settings ...string) {
	t.Helper()
	install(t, chart(settings...))
}

// install installs what these arguments say until the test ends.
func install(t *testing.T, args []string) {
	t.Helper()
	began := time.Now()
	run(t, "helm", append([]string{"install"}, args...)...)
	took(t, "helm install --wait", began)
	t.Cleanup(func() {
		if t.Failed() {
			printed, _ := try(t, "kubectl", "logs", "--namespace="+namespace, "--selector=app.kubernetes.io/instance="+release, "--tail=40")
			t.Log(printed)
		}
		began := time.Now()
		run(t, "helm", "uninstall", release, "--namespace="+namespace, "--wait", "--timeout=4m")
		took(t, "helm uninstall", began)
		run(t, "kubectl", "delete", "namespace", namespace)
	})
}

// took prints how many seconds something took.
func took(t *testing.T, what string, began time.Time) {
	t.Helper()
	t.Logf("%s: %.1f s", what, time.Since(began).Seconds())
}

// eventually waits for a condition.
func eventually(t *testing.T, what string, met func() bool) {
	t.Helper()
	harness.EventuallyWithin(t, patience, what, met)
}

// restricted is a namespace of the restricted Pod Security Standard, until the test ends:
// a node has room for 110 pods.
func restricted(t *testing.T) string {
	t.Helper()
	space := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "app-", Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"}}}
	world.Create(t, space)
	t.Cleanup(func() { require.NoError(t, cluster.Delete(context.WithoutCancel(t.Context()), space)) })
	return space.Name
}
