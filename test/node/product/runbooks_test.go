// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package product

import (
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/test/runbook"
)

// toConsole is a configuration that writes events to the log of the sidecar.
const toConsole = `
sources:
  logs: {type: file, include: [/var/log/app/*.log]}
sinks:
  out: {type: console, inputs: [logs], encoding: {codec: json}}
`

// situations are the states of the installation in which an engineer runs a command of a runbook, by the alert. Each
// returns names of objects for the command.
var situations = map[string]func(t *testing.T) map[string]string{
	"VectorSidecarObjectsMissing": func(t *testing.T) map[string]string {
		t.Helper()
		run(t, "kubectl", "delete", "validatingadmissionpolicybinding", namespace+"."+release+"-vector-sidecar-operator.vectorsidecars")
		// The operator checks the objects at its start, and then every five minutes.
		run(t, "kubectl", "rollout", "restart", "deployment/"+release+"-vector-sidecar-operator", "--namespace="+namespace)
		return nil
	},
	// The operator of the new ReplicaSet rejects an argument.
	"VectorSidecarOperatorAbsent": func(t *testing.T) map[string]string {
		t.Helper()
		upgradeWithoutWait(t, "extraArgs={--unknown}")
		pod := ""
		eventually(t, "an operator that has restarted", func() bool {
			pod = strings.TrimSpace(inShell(t, "kubectl get pods -n vector-system -l app.kubernetes.io/component=operator --no-headers | awk '$4 > 0 {print $1}'"))
			return pod != ""
		})
		t.Cleanup(func() { upgradeWithoutWait(t) })
		return map[string]string{"POD": pod}
	},
	// The operator may not write workloads.
	"VectorSidecarReconcilesFailing": func(t *testing.T) map[string]string {
		t.Helper()
		run(t, "kubectl", "delete", "clusterrole", namespace+":"+release+"-vector-sidecar-operator")
		space := restricted(t)
		world.Create(t, writer("app", space).Build(), collecting(space).Build())
		return nil
	},
}

// upgradeWithoutWait changes the values of the release.
func upgradeWithoutWait(t *testing.T, settings ...string) {
	t.Helper()
	args := append([]string{"upgrade"}, chart(append([]string{webhook}, settings...)...)...)
	run(t, "helm", append(args, "--wait=false")...)
}

// A real installation and a sidecar that runs have the state of each alert while the commands of its runbook run.
func TestProduct_RunsCommandsOfRunbooks(t *testing.T) {
	commands, err := runbook.Read(root)
	require.NoError(t, err)
	installed(t, webhook)
	space := restricted(t)
	app := writer("app", space).Build()
	world.Create(t, app, collecting(space).WithInlineConfig(toConsole).Build())
	names := map[string]string{"NAMESPACE": space, "POD": running(t, app, true).Name}
	for _, command := range commands {
		if !command.NeedsNode() {
			continue
		}
		t.Run(command.Alert, func(t *testing.T) {
			own := maps.Clone(names)
			if create, ok := situations[command.Alert]; ok {
				maps.Copy(own, create(t))
			}
			text := command.Fill(own)
			// The operator finds some states only after a while.
			var err error
			t.Cleanup(func() {
				if t.Failed() {
					t.Log(err)
				}
			})
			eventually(t, text, func() bool {
				err = command.Check(inShell(t, text))
				return err == nil
			})
		})
	}
}

// inShell returns the output of a command of a page, whose exit code may be 1, as that of grep without matches.
func inShell(t *testing.T, line string) string {
	t.Helper()
	kubectl, err := machine.Bin("kubectl")
	require.NoError(t, err)
	command := exec.CommandContext(context.WithoutCancel(t.Context()), "bash", "-c", line)
	command.Dir = root
	command.Env = append(os.Environ(), "KUBECONFIG="+machine.Kubeconfig(), "PATH="+filepath.Dir(kubectl)+string(filepath.ListSeparator)+os.Getenv("PATH"))
	printed, err := command.CombinedOutput()
	if command.ProcessState.ExitCode() > 1 {
		require.NoError(t, err, "%s\n%s", line, printed)
	}
	return string(printed)
}
