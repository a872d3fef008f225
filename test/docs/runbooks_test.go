// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"cmp"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/test/controlplane"
	"kontroloop.ai/vector-sidecar-operator/test/runbook"
)

// situation is the state of the cluster in which an engineer follows a runbook: the commands that create and end it, and
// the names in it that differ from those of the samples.
type situation struct {
	before, after []string
	names         map[string]string
}

const (
	upgrade     = `helm upgrade vso ./chart -n vector-system -f values/production.yaml -f test/docs/testdata/runbooks/values.yaml`
	patch       = `kubectl patch vectorsidecars logs -n shop --type=merge -p `
	apply       = `kubectl apply --server-side -f test/docs/testdata/runbooks/`
	remove      = `kubectl delete -f test/docs/testdata/runbooks/`
	untilLogs   = `kubectl wait vectorsidecars/logs -n shop --timeout=90s --for=`
	untilReady  = untilLogs + `condition=Ready`
	untilHalted = untilLogs + `jsonpath='{.status.rollout.state}'=Halted`
)

// situations are the states of the cluster by alert. Without an entry, the installation and its sidecars work.
var situations = map[string]situation{
	"VectorSidecarNotReady": {
		before: []string{apply + "not-ready.yaml", `kubectl wait vectorsidecars/audit -n shop --for=condition=Stalled --timeout=90s`},
		after:  []string{remove + "not-ready.yaml"},
	},
	"VectorSidecarRolloutFailed": {
		before: []string{patch + `'{"spec":{"sidecar":{"image":"registry.example/vector:crashes"}}}'`, untilLogs + `jsonpath='{.status.workloads[0].state}'=Failed`},
		after: []string{
			patch + `'{"spec":{"sidecar":{"image":null}}}'`,
			"kubectl annotate deployment cart -n shop vectorsidecar.observability.kontroloop.ai/inject-", untilReady,
		},
	},
	"VectorSidecarConflict": {
		before: []string{apply + "pay.yaml", untilLogs + `jsonpath='{.status.workloads[0].state}'=Conflict`},
		after:  []string{remove + "pay.yaml", untilReady},
		names:  map[string]string{"DEPLOYMENT": "pay"},
	},
	"VectorSidecarLeftovers": {
		before: []string{apply + "old.yaml --field-manager=vectorsidecar/old"}, after: []string{remove + "old.yaml"},
		names: map[string]string{"DEPLOYMENT": "old", "VECTORSIDECAR": "old"},
	},
	"VectorSidecarObjectsMissing": {
		before: []string{"kubectl delete validatingadmissionpolicybinding vector-system.vso-vector-sidecar-operator.vectorsidecars"},
	},
	"VectorSidecarOperatorAbsent": {
		before: []string{upgrade, "kubectl scale deployment vso-vector-sidecar-operator -n vector-system --replicas=0"},
	},
	"VectorSidecarOperatorPanics": {
		after: []string{patch + `'{"spec":{"enabled":true}}'`, untilReady},
	},
	"VectorSidecarReconcilesFailing": {
		before: []string{
			`kubectl patch clusterrole vector-system:vso-vector-sidecar-operator --type=json -p '[{"op":"replace","path":"/rules/0/verbs","value":["get","list","watch"]}]'`,
			patch + `'{"spec":{"sidecar":{"logLevel":"debug"}}}'`, untilLogs + `jsonpath='{.status.conditions[?(@.type=="Ready")].reason}'=Retrying`,
		},
		after: []string{upgrade, untilReady},
	},
	"VectorSidecarRepairedOften": {
		after: []string{"kubectl annotate deployment cart -n shop vectorsidecar.observability.kontroloop.ai/inject-", untilReady},
	},
	"VectorSidecarRolloutHalted": {
		before: []string{upgrade + " --set sidecar.image=registry.example/vector:crashes", untilHalted},
		after:  []string{upgrade, untilReady},
	},
	"VectorSidecarRolloutStuck": {
		before: []string{patch + `'{"spec":{"rollout":{"soak":"1h"}}}'`, upgrade + " --set sidecar.logLevel=error", untilLogs + `jsonpath='{.status.conditions[?(@.type=="Ready")].reason}'=Soaking`},
		after:  []string{patch + `'{"spec":{"rollout":{"soak":"0s"}}}'`, upgrade, untilReady},
	},
	"VectorSidecarTemplatesBroken": {
		before: []string{upgrade + " -f test/docs/testdata/runbooks/templates.yaml", untilLogs + `jsonpath='{.status.conditions[?(@.type=="ConfigValid")].status}'=False`},
		after:  []string{upgrade, untilReady},
	},
	"VectorSidecarWaitsLong": {
		before: []string{patch + `'{"spec":{"rollout":{"paused":true},"sidecar":{"logLevel":"info"}}}'`, untilLogs + `jsonpath='{.status.conditions[?(@.type=="Ready")].reason}'=RolloutPaused`},
		after:  []string{untilReady},
	},
	"VectorSidecarWritesStopped": {
		before: []string{"kubectl vectorsidecar rollout pause", patch + `'{"spec":{"sidecar":{"logLevel":"debug"}}}'`, untilLogs + `jsonpath='{.status.conditions[?(@.type=="Ready")].reason}'=WritesStopped`},
		after:  []string{untilReady},
	},
}

// The table of runbooks has each command, its runbooks and the test that runs it.
func TestDocs_ListCommandsOfRunbooks(t *testing.T) {
	commands, err := runbook.Read(root)
	require.NoError(t, err)
	var rows []string
	pages := map[string][]string{}
	for _, command := range commands {
		row := "| `" + strings.ReplaceAll(command.Text, "|", `\|`) + "` | `" + command.Test() + "` |"
		if pages[row] == nil {
			rows = append(rows, row)
		}
		pages[row] = append(pages[row], "["+strings.TrimPrefix(command.Alert, "VectorSidecar")+"]("+command.Alert+".md)")
	}
	slices.Sort(rows)
	var table []string
	for _, row := range rows {
		table = append(table, row+" "+strings.Join(slices.Compact(pages[row]), ", ")+" |")
	}
	isGenerated(t, root+"/docs/runbooks/README.md", "commands", "\n| Command | Test | Runbooks |\n|---|---|---|\n"+strings.Join(table, "\n")+"\n\n")
}

// Each command of a runbook is in a block with its output, so that a test runs it.
func TestDocs_KeepRunbookCommandsInBlocks(t *testing.T) {
	files, err := filepath.Glob(root + "/docs/runbooks/*.md")
	require.NoError(t, err)
	for _, file := range files {
		if filepath.Base(file) == "README.md" {
			continue
		}
		p := read(t, "docs/runbooks/"+filepath.Base(file))
		for _, span := range p.code() {
			require.False(t, isCommand.MatchString(span), "%s: put %s into a block, with its output", p.name, span)
		}
	}
}

// isCommand recognizes a command with arguments. The names of commands, such as helm template, are not run.
var isCommand = regexp.MustCompile(`^(kubectl|helm) \S+ \S`)

// newestPod returns the name of the pod that was created last, or "" if there is none. Times have seconds, so that the
// revision of the ReplicaSet decides between pods of the same second.
func newestPod(t *testing.T, c client.Client, namespace string) string {
	t.Helper()
	var pods corev1.PodList
	var replicaSets appsv1.ReplicaSetList
	require.NoError(t, c.List(t.Context(), &pods, client.InNamespace(namespace)))
	require.NoError(t, c.List(t.Context(), &replicaSets, client.InNamespace(namespace)))
	revisions := map[types.UID]int{}
	for i := range replicaSets.Items {
		revisions[replicaSets.Items[i].UID], _ = strconv.Atoi(replicaSets.Items[i].Annotations["deployment.kubernetes.io/revision"])
	}
	revision := func(pod *corev1.Pod) int {
		if owner := metav1.GetControllerOf(pod); owner != nil {
			return revisions[owner.UID]
		}
		return 0
	}
	if len(pods.Items) == 0 {
		return ""
	}
	return slices.MaxFunc(pods.Items, func(a, b corev1.Pod) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(revision(&a), revision(&b)))
	}).Name
}

// For each alert, a cluster is brought into its state. The commands of the runbook then have the documented output.
func TestDocs_RunCommandsOfRunbooks(t *testing.T) {
	commands, err := runbook.Read(root)
	require.NoError(t, err)
	ctrl.SetLogger(logr.Discard())
	plane := controlplane.ForTest(t, controlplane.Options{Nodes: 2})
	c, err := client.New(plane.Config(), client.Options{})
	require.NoError(t, err)
	kubeconfig := "KUBECONFIG=" + plane.Kubeconfig()
	run := func(lines ...string) (printed string) {
		t.Helper()
		for _, line := range lines {
			printed = shell(t, line, kubeconfig)
		}
		return printed
	}
	run("helm install vso ./chart -n vector-system --create-namespace -f values/production.yaml -f test/docs/testdata/runbooks/values.yaml")
	runOperator(t, plane)
	run(
		"kubectl apply -f docs/samples/app/deployment.yaml -f docs/samples/02-logs.yaml",
		"kubectl label namespace shop wave=canary",
		patch+`'{"spec":{"rollout":{"soak":"0s"}}}'`,
		"kubectl label deployment cart -n shop logs=vector",
		"kubectl wait vectorsidecars/logs -n shop --for=jsonpath='{.status.readyWorkloads}'=1 --timeout=90s",
	)
	first := strings.TrimSpace(run("kubectl get vectorsidecars logs -n shop -o jsonpath='{.status.rollout.revision}'"))
	for i, command := range commands {
		state := situations[command.Alert]
		if i == 0 || commands[i-1].Alert != command.Alert {
			run(state.before...)
		}
		if !command.NeedsNode() {
			names := map[string]string{
				"NAMESPACE": "shop", "DEPLOYMENT": "cart", "VECTORSIDECAR": "logs", "WAVE": "canary",
				"POD":      newestPod(t, c, "shop"),
				"REVISION": first,
			}
			maps.Copy(names, state.names)
			require.NoError(t, command.Check(run(command.Fill(names)+` || [ $? = 1 ]`)))
		}
		if i+1 == len(commands) || commands[i+1].Alert != command.Alert {
			run(state.after...)
		}
	}
	for alert := range situations {
		require.True(t, slices.ContainsFunc(commands, func(c runbook.Command) bool { return c.Alert == alert }), "%s has no runbook", alert)
	}
}
