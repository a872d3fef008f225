// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	ctrl "sigs.k8s.io/controller-runtime"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/internal/cli"
	"kontroloop.ai/vector-sidecar-operator/internal/operator"
	"kontroloop.ai/vector-sidecar-operator/test/controlplane"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

var update = flag.Bool("update", false, "rewrite what the scripts expect, and the generated pages")

// root is the relative path of the repository.
const root = "../.."

// options are those of the operator in these tests.
var options = operator.Options{Namespace: "vector-system", EnvironmentsConfigMap: "environments", ReadServiceAccounts: true}

// emptyValues returns the ConfigMap of values that operators with options read.
func emptyValues() *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: options.Namespace, Name: options.EnvironmentsConfigMap}}
}

// The scripts run the plugin as a program, which is this test binary.
func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	testscript.Main(m, map[string]func(){"kubectl-vectorsidecar": func() {
		streams := genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}
		os.Exit(cli.Run(context.Background(), os.Args[1:], streams, cli.Builtin{Chart: vectorsidecar.FS, Definition: vectorsidecar.Definition, ClusterDefinition: vectorsidecar.ClusterDefinition}, "test"))
	}})
}

// run runs the scripts of a folder, one after the other, because scripts with a cluster share it. Each has a copy
// of the files that the examples name.
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
	// A script has only these environment variables, so its programs collect garbage as rarely as this one.
	for _, name := range []string{"GOGC", "GOMEMLIMIT"} {
		env.Setenv(name, os.Getenv(name))
	}
	return nil
}

// The scripts in testdata/offline run the plugin with files only, and without a kubeconfig.
func TestCLI_RunsScriptsWithoutCluster(t *testing.T) {
	t.Parallel()
	run(t, "offline", filepath.Join(t.TempDir(), "none"))
}

// The scripts run one after the other on one cluster, because each reads the whole cluster. Each deletes its
// VectorSidecars and workloads.
func TestCLI_WorksOnCluster(t *testing.T) {
	t.Parallel()
	for name, group := range map[string]struct {
		options controlplane.Options
		tests   []clusterTest
	}{
		"API server": {controlplane.Options{}, []clusterTest{
			{"rollout commands follow the waves", testRolloutCommandsFollowTheWaves},
			{"check reports the fleet", testCheckReportsTheFleet},
			{"no object steers who sees what is printed", testNoObjectSteersWhoSeesWhatIsPrinted},
			{"a plan over a thousand workloads writes nothing", testAPlanOverAThousandWorkloadsWritesNothing},
			{"inject gives what the operator gives", testInjectGivesWhatTheOperatorGives}, // What comes of pods is no matter here.
		}},
		"Deployments roll out": {controlplane.Options{Nodes: 2}, []clusterTest{
			{"eject cleans a cluster whose operator is gone", testEjectCleansAClusterWhoseOperatorIsGone},
			{"scripts", testScriptsWithACluster},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plane := controlplane.ForTest(t, group.options)
			world, err := harness.NewWorld(plane.Config())
			require.NoError(t, err)
			for _, test := range group.tests {
				t.Run(test.name, func(t *testing.T) { test.run(t, plane, world) })
			}
		})
	}
}

// A user previews a VectorSidecar in a cluster without the operator.
func TestCLI_PreviewsBeforeInstallation(t *testing.T) {
	t.Parallel()
	plane := controlplane.ForTest(t, controlplane.Options{})
	for _, command := range []string{"plan", "diff", "tree"} {
		var out, notes bytes.Buffer
		streams := genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &out, ErrOut: &notes}
		code := cli.Run(t.Context(), []string{command, "--sidecar", filepath.Join(root, "docs", "samples", "02-logs.yaml"), "--kubeconfig", plane.Kubeconfig()}, streams, builtin, "test")
		require.Zero(t, code, "%s: %s", command, &notes)
		require.Contains(t, notes.String(), "operator not found in the cluster")
	}
}

// clusterTest is a test on a cluster that has only the CustomResourceDefinitions of the operator.
type clusterTest struct {
	name string
	run  func(*testing.T, *controlplane.ControlPlane, *harness.World)
}

func testScriptsWithACluster(t *testing.T, plane *controlplane.ControlPlane, world *harness.World) {
	world.SetValues(t, emptyValues())
	world.StartOperator(t, options)
	run(t, "cluster", plane.Kubeconfig())
}
