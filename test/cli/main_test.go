// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	ctrl "sigs.k8s.io/controller-runtime"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/internal/cli"
	"kontroloop.ai/vector-sidecar-operator/internal/operator"
	"kontroloop.ai/vector-sidecar-operator/test/controlplane"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

var update = flag.Bool("update", false, "rewrite what the scripts expect, and the generated pages")

// root is the repository, seen from here.
const root = "../.."

// options are those of the operator in these tests.
var options = operator.Options{Namespace: "vector-system", EnvironmentsConfigMap: "environments", ReadServiceAccounts: true}

// The plugin is a program on the scripts' path, built from this test.
func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	testscript.Main(m, map[string]func(){"kubectl-vectorsidecar": func() {
		streams := genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}
		os.Exit(cli.Run(context.Background(), os.Args[1:], streams, cli.Builtin{Chart: vectorsidecar.FS, Definition: vectorsidecar.Definition, ClusterDefinition: vectorsidecar.ClusterDefinition}, "test"))
	}})
}

// run runs the scripts of a folder, one after the other: those of a cluster share
// it. Each has a copy of the files that the examples name.
func run(t *testing.T, folder, kubeconfig string) {
	t.Helper()
	scripts, err := filepath.Glob(filepath.Join("testdata", folder, "*.txtar"))
	require.NoError(t, err)
	require.NotEmpty(t, scripts)
	for _, script := range scripts {
		t.Run(strings.TrimSuffix(filepath.Base(script), ".txtar"), func(t *testing.T) {
			testscript.Run(t, testscript.Params{
				Files: []string{script}, UpdateScripts: *update, RequireUniqueNames: true,
				Cmds:  map[string]func(*testscript.TestScript, bool, []string){"certify": certify},
				Setup: func(env *testscript.Env) error { return setUp(env, kubeconfig) },
			})
		})
	}
}

func setUp(env *testscript.Env, kubeconfig string) error {
	for _, name := range []string{"docs/samples", "templates", "values", "test/golden"} {
		if err := os.CopyFS(filepath.Join(env.WorkDir, name), os.DirFS(filepath.Join(root, name))); err != nil {
			return err
		}
	}
	for _, name := range []string{"Chart.yaml", "values.yaml", "values.schema.json"} {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(env.WorkDir, name), text, 0o600); err != nil {
			return err
		}
	}
	kubectl, err := controlplane.Bin("kubectl")
	if err != nil {
		return err
	}
	env.Setenv("PATH", env.Getenv("PATH")+string(filepath.ListSeparator)+filepath.Dir(kubectl))
	repository, err := filepath.Abs(root)
	if err != nil {
		return err
	}
	env.Setenv("REPOSITORY", repository)
	env.Setenv("KUBECONFIG", kubeconfig)
	env.Setenv("HOME", env.WorkDir)
	return nil
}

func TestScriptsWithoutACluster(t *testing.T) {
	t.Parallel()
	run(t, "offline", filepath.Join(t.TempDir(), "none"))
}

func TestScriptsWithACluster(t *testing.T) {
	t.Parallel()
	plane, world := start(t, withPods)
	world.StartOperator(t, options)
	run(t, "cluster", plane.Kubeconfig())
}

// withPods is a control plane where Deployments roll out.
var withPods = controlplane.Options{Nodes: 2}

// start starts a control plane, and nothing of the operator but its
// CustomResourceDefinition. Each test has its own: they look at all that a cluster
// has, so that they run in parallel.
func start(t *testing.T, options controlplane.Options) (*controlplane.ControlPlane, *harness.World) {
	t.Helper()
	plane := controlplane.ForTest(t, options)
	world, err := harness.NewWorld(plane.Config())
	require.NoError(t, err)
	return plane, world
}
