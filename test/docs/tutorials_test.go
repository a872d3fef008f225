// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	ctrl "sigs.k8s.io/controller-runtime"

	"kontroloop.ai/vector-sidecar-operator/test/controlplane"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/runbook"
)

// isTutorial reports whether a page is a tutorial, whose commands run in a cluster of their own.
func isTutorial(page string) bool { return filepath.Dir(page) == "docs/tutorials" }

// savedFile is the first line of a block that the reader of a tutorial saves as a file.
var savedFile = regexp.MustCompile(`^# (\S+\.yaml)\n`)

// recordRollout is the file for the output of rollout status -w. make pictures sets it.
var recordRollout = flag.String("record-rollout", "", "file for the progress of the first upgrade in a tutorial")

// A reader follows each tutorial from its first to its last command, in a new cluster.
func TestDocs_RunCommandsOfTutorials(t *testing.T) {
	ctrl.SetLogger(logr.Discard())
	for _, p := range pages(t) {
		if !isTutorial(p.name) {
			continue
		}
		t.Run(filepath.Base(p.name), func(t *testing.T) {
			folder := t.TempDir()
			var files []string
			for _, f := range p.fences {
				if name := savedFile.FindStringSubmatch(f.text); f.language == "yaml" && name != nil {
					require.NoError(t, os.WriteFile(filepath.Join(folder, name[1]), []byte(f.text), 0o600))
					files = append(files, " "+name[1], " "+filepath.Join(folder, name[1]))
				}
			}
			text, err := os.ReadFile(filepath.Join(root, p.name))
			require.NoError(t, err)
			commands, err := runbook.Parse(p.name, string(text))
			require.NoError(t, err)
			plane := controlplane.ForTest(t, controlplane.Options{Nodes: 2})
			kubeconfig, prepare := plane.Kubeconfig(), ""
			if strings.HasPrefix(commands[0].Text, "make kind-up") {
				kubeconfig, prepare = filepath.Join(folder, "kubeconfig"), standInDocker(t, plane, folder)
			}
			for _, command := range commands {
				if command.NeedsNode() { // TestProduct_FollowsTutorialOfKind runs it.
					continue
				}
				if command.Text == "make demo" { // make verify runs it.
					require.NoError(t, command.Check(demoHeadings(t)))
					continue
				}
				var printed string
				run := func() {
					printed = shell(t, prepare+strings.NewReplacer(files...).Replace(command.Text), "KUBECONFIG="+kubeconfig)
				}
				if *recordRollout != "" && strings.HasPrefix(command.Text, "helm upgrade ") {
					recordProgress(t, *recordRollout, "KUBECONFIG="+kubeconfig, run)
					*recordRollout = ""
				} else {
					run()
				}
				require.NoError(t, command.Check(printed))
				if strings.HasPrefix(command.Text, "helm install ") {
					runOperator(t, plane)
				}
			}
		})
	}
}

// recordProgress writes the output of rollout status -w during a change of the installation into a file, until each wave
// of one VectorSidecar has finished the new revision.
func recordProgress(t *testing.T, name, kubeconfig string, change func()) {
	t.Helper()
	file, err := os.Create(name)
	require.NoError(t, err)
	defer file.Close()
	_, err = file.WriteString("$ kubectl vectorsidecar rollout status -w\n")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	watch := exec.CommandContext(ctx, filepath.Join(root, "bin", "kubectl-vectorsidecar"), "rollout", "status", "-w")
	watch.Env, watch.Stdout = append(os.Environ(), kubeconfig), file
	require.NoError(t, watch.Start())
	screens := func() []string {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		return strings.Split(string(text), "\n\n") // A change prints the screen again after an empty line.
	}
	harness.Eventually(t, "the first screen", func() bool { return strings.Count(screens()[0], "\n") > 3 })
	change()
	harness.Eventually(t, "the end of the rollout", func() bool {
		all := screens()
		return len(all) > 2 && strings.Count(all[len(all)-1], "1/1") == 2
	})
	stop()
	require.Error(t, watch.Wait(), "the watch ended by itself")
}

// standInDocker puts a stand-in for docker into a folder, whose container of kind is a control plane. It returns the line
// that makes a shell use the stand-in.
func standInDocker(t *testing.T, plane *controlplane.ControlPlane, folder string) string {
	t.Helper()
	for source, name := range map[string]string{plane.Kubeconfig(): "admin.conf", root + "/test/imagearchive/testdata/docker": "docker"} {
		text, err := os.ReadFile(source)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), text, 0o700))
	}
	return "PATH=" + folder + ":$PATH\n"
}
