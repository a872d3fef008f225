// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/test/controlplane"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

// offline are the commands that need no cluster, and what they must print.
var offline = map[string]string{
	"make quickstart":         "Try next:",
	"make render ENV=staging": "vectorsidecar-vector-config",
	"bin/kubectl-vectorsidecar render -f docs/samples/app/deployment.yaml --sidecar docs/samples/03-otlp.yaml --label telemetry=otlp --environment production": "name: vector-otlp",
	"bin/kubectl-vectorsidecar lint docs/samples": "0 findings",
	"bin/kubectl-vectorsidecar test test/golden":  "0 failed",
	"bin/kubectl-vectorsidecar explain cart -f docs/samples/app/deployment.yaml --sidecar docs/samples/02-logs.yaml": "NoMatch",
	"helm template . -f values/staging.yaml":      "kind: PodTemplate",
	"helm lint .":                                 "0 chart(s) failed",
	"helm lint ./chart -f values/production.yaml": "0 chart(s) failed",
}

// session lists the commands that need a cluster, in the order of the pages, and their expected output. A reader of
// the README runs them in this order.
var session = []struct{ command, prints string }{
	{"helm install vso ./chart -n vector-system --create-namespace -f values/production.yaml", "STATUS: deployed"},
	{"kubectl rollout status deployment/vso-vector-sidecar-operator -n vector-system", "successfully rolled out"},
	{"helm test vso -n vector-system", "Phase:          Succeeded"},
	{"kubectl apply -f docs/samples/app/deployment.yaml -f docs/samples/02-logs.yaml", "logs created"},
	{"kubectl label deployment cart -n shop logs=vector", "labeled"},
	{"kubectl rollout status deployment/cart -n shop", "successfully rolled out"},
	{"kubectl wait vectorsidecars/logs -n shop --for=jsonpath='{.status.readyWorkloads}'=1 --timeout=3m", "condition met"},
	{"kubectl vectorsidecar explain cart -n shop", "Deployment shop/cart: UpToDate"},
	{"kubectl get pods -n shop -l app.kubernetes.io/name=cart -o custom-columns='POD:.metadata.name,INIT:.spec.initContainers[*].name,CONTAINERS:.spec.containers[*].name'", "vector,migrate"},
	{"kubectl get deployment cart -n shop -o jsonpath='{.spec.template.spec.initContainers[*].name}'", "vector migrate"},
	{`kubectl get deployment cart -n shop -o jsonpath='{.metadata.annotations.vectorsidecar\.observability\.kontroloop\.ai/change-cause}'`, "VectorSidecar logs selects the workload"},
	{"kubectl get configmaps -n shop -l vectorsidecar.observability.kontroloop.ai/vectorsidecar=logs", "logs-vector-"},
	{"kubectl get vectorsidecars -n shop -o wide", "MESSAGE"},
	{"kubectl get deployment cart -n shop --show-labels", "logs=vector"},
	{"kubectl get vectorsidecars logs -n shop -o jsonpath='{.status.workloads}'", ""},
	{"kubectl label namespace shop vectorsidecar.observability.kontroloop.ai/environment=staging", "labeled"},
	{"helm upgrade vso ./chart -n vector-system -f values/production.yaml -f my-values.yaml", "STATUS: deployed"},
	{"kubectl label namespace shop --overwrite vectorsidecar.observability.kontroloop.ai/environment=qa", "labeled"},
	{"kubectl apply -f docs/samples/16-many-namespaces.yaml", "logs created"},
	{"kubectl annotate configmap -n vector-system vso-vector-sidecar-operator-environments vectorsidecar.observability.kontroloop.ai/stop-writes=true", "annotated"},
	{"kubectl annotate configmap -n vector-system vso-vector-sidecar-operator-environments vectorsidecar.observability.kontroloop.ai/stop-writes-", "annotated"},
	{"kubectl vectorsidecar rollout retry vectorsidecar/logs -n shop", "vectorsidecar/logs annotated: earlier failures no longer block the VectorSidecar"},
	{"kubectl get vectorsidecars -A -o wide", "MESSAGE"},
	{"kubectl describe vectorsidecars logs -n shop", "Injected the sidecar of 1 Deployments: cart"},
	{"kubectl events -n shop --for deployment/cart", "Injected the sidecar of VectorSidecar logs"},
	{"kubectl get deployment cart -n shop -o yaml", "vectorsidecar.observability.kontroloop.ai/injected-hash"},
	{"kubectl vectorsidecar explain deployment/cart -n shop", "Deployment shop/cart: "},
	{"kubectl annotate deployment cart -n shop vectorsidecar.observability.kontroloop.ai/inject=false", "annotated"},
	{"kubectl label deployment cart -n shop logs-", "unlabeled"},
	{"kubectl patch vectorsidecars logs -n shop --type=merge -p '{\"spec\":{\"enabled\":false}}'", "patched"},
	{"kubectl delete vectorsidecars.observability.kontroloop.ai logs -n shop", "deleted"},
	{"kubectl label namespace shop vectorsidecar.observability.kontroloop.ai/inject=false", "labeled"},
	{"kubectl delete clustervectorsidecars.observability.kontroloop.ai logs", "deleted"},
	{"helm uninstall vso -n vector-system", "[CustomResourceDefinition] vectorsidecars"},
	{"kubectl delete crd vectorsidecars.observability.kontroloop.ai clustervectorsidecars.observability.kontroloop.ai overlaysets.observability.kontroloop.ai", "deleted"},
}

// elsewhere lists the commands that other files run: the file, and its text that runs the command.
var elsewhere = map[string]struct{ file, text string }{
	"kubectl annotate --overwrite crd vectorsidecars.observability.kontroloop.ai clustervectorsidecars.observability.kontroloop.ai overlaysets.observability.kontroloop.ai meta.helm.sh/release-name=two meta.helm.sh/release-namespace=b": {
		"test/chart/lifecycle_test.go", `"meta.helm.sh/release-name=two", "meta.helm.sh/release-namespace=b"`,
	},
	"kubectl vectorsidecar validate -f docs/samples/app/deployment.yaml --sidecar docs/samples/04-inline-config.yaml --label logs=inline --vector vector": {
		"test/cli/testdata/offline/validate.txtar", "exec kubectl vectorsidecar validate -f docs/samples/app/deployment.yaml --sidecar docs/samples/04-inline-config.yaml --label logs=inline --vector vector\n",
	},
	"kubectl vectorsidecar test test/golden --vector vector": {"test/cli/testdata/offline/validate.txtar", "exec kubectl vectorsidecar test test/golden --vector vector\n"},
	"helm install vso ./chart -n vector-system --create-namespace -f values/production.yaml -f docs/samples/openshift/values.yaml": {
		"chart/tests/deployment_test.yaml", "values: [../../values/production.yaml, ../../docs/samples/openshift/values.yaml]",
	},
	"make demo": {"Makefile", "$(MAKE) --no-print-directory demo DEMO=once"},
	"make test": {"Makefile", "$(MAKE) --no-print-directory test\n"},
}

// commands returns the lines of all sh blocks, joined after a backslash. Other tests run the guide for template
// authors and the tutorials.
func commands(t *testing.T) []string {
	t.Helper()
	var lines []string
	for _, f := range fences(t, "sh") {
		if f.page == templatesPage || isTutorial(f.page) {
			continue
		}
		lines = append(lines, f.commands()...)
	}
	return lines
}

// commands returns the lines of an sh block, joined after a backslash.
func (f *fence) commands() []string {
	var lines []string
	for line := range strings.SplitSeq(strings.ReplaceAll(f.text, "\\\n", ""), "\n") {
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// A test runs each command that a page shows.
func TestDocs_ShowOnlyTestedCommands(t *testing.T) {
	shown := commands(t)
	release, err := os.ReadFile(root + "/.github/workflows/release.yaml")
	require.NoError(t, err)
	var needCluster []string
	for _, command := range shown {
		_, isOffline := offline[command]
		if place, ok := elsewhere[command]; ok {
			text, err := os.ReadFile(filepath.Join(root, place.file))
			require.NoError(t, err)
			require.Contains(t, string(text), place.text, "%s says that %q is run", place.file, command)
		} else if strings.HasPrefix(command, "cosign ") || strings.HasPrefix(command, "sha256sum ") {
			require.Contains(t, string(release), command, "the workflow verifies a release by the same commands")
		} else if !isOffline {
			needCluster = append(needCluster, command)
		}
	}
	var known []string
	for _, step := range session {
		known = append(known, step.command)
	}
	require.Equal(t, known, needCluster, "add a new command to offline, session or elsewhere; take a gone one out")
	for command := range offline {
		require.Contains(t, shown, command, "no page shows this command any more")
	}
	for command := range elsewhere {
		require.Contains(t, shown, command, "no page shows this command any more")
	}
}

func TestDocs_RunCommandsWithoutCluster(t *testing.T) {
	printed := map[string]string{}
	for command, prints := range offline {
		t.Run(command, func(t *testing.T) {
			// The kubeconfig does not exist, so the command cannot use a user's or a test's cluster.
			printed[command] = shell(t, command, "KUBECONFIG="+filepath.Join(t.TempDir(), "none"))
			require.Contains(t, printed[command], prints)
		})
	}
	requireShownOutput(t, printed)
}

// The commands that need a cluster run one after the other on one control plane.
func TestDocs_RunCommandsInPageOrder(t *testing.T) {
	ctrl.SetLogger(logr.Discard())
	plane := controlplane.ForTest(t, controlplane.Options{Nodes: 2})
	kubeconfig := "KUBECONFIG=" + plane.Kubeconfig()
	values := ownValues(t)
	printed := map[string]string{}
	for _, step := range session {
		printed[step.command] = shell(t, strings.ReplaceAll(step.command, "my-values.yaml", values), kubeconfig)
		require.Contains(t, printed[step.command], step.prints, step.command)
		if strings.HasPrefix(step.command, "helm install ") {
			runOperator(t, plane)
		}
	}
	requireShownOutput(t, printed)
}

// runOperator runs the operator and the chart's hooks, because the installed pods are simulated.
func runOperator(t *testing.T, plane *controlplane.ControlPlane) {
	t.Helper()
	known := runtime.NewScheme()
	require.NoError(t, errors.Join(clientgoscheme.AddToScheme(known), v1alpha1.AddToScheme(known)))
	c, err := client.New(plane.Config(), client.Options{Scheme: known})
	require.NoError(t, err)
	harness.Eventually(t, "VectorSidecars to be served", func() bool {
		return c.List(t.Context(), &v1alpha1.VectorSidecarList{}) == nil
	})
	pods := harness.NewStandIn(t, plane, c, "vector-system")
	pods.Operator(t, "vso-vector-sidecar-operator")
	pods.Hooks(t)
}

// shell runs a line in the root of the repository, with the repository's tools and without the settings of the user
// who runs the test.
func shell(t *testing.T, line string, variables ...string) string {
	t.Helper()
	kubectl, err := controlplane.Bin("kubectl")
	require.NoError(t, err)
	home := t.TempDir()
	command := exec.CommandContext(t.Context(), "bash", "-c", line)
	command.Dir = root
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "HELM_") && !strings.HasPrefix(variable, "MAKE") && !strings.HasPrefix(variable, "MFLAGS=") {
			command.Env = append(command.Env, variable)
		}
	}
	command.Env = append(command.Env, "PATH="+filepath.Dir(kubectl)+string(filepath.ListSeparator)+os.Getenv("PATH"),
		"HELM_CACHE_HOME="+home, "HELM_CONFIG_HOME="+home, "HELM_DATA_HOME="+home)
	command.Env = append(command.Env, variables...)
	var stdout, all bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &all
	require.NoError(t, command.Run(), "%s\n%s%s", line, &stdout, &all)
	return stdout.String() + all.String()
}
