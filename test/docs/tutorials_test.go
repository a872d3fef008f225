// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"context"
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

// recordedProgress has the output of rollout status -w during the first upgrade of a tutorial, for a picture.
const recordedProgress = root + "/test/pictures/recorded/rollout-status.txt"

// changingText finds digests of revisions and times.
var changingText = regexp.MustCompile(`\b[0-9a-f]{10}\b|\b\d{4}-\d\d-\d\dT[0-9:]+Z\b`)

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
			isWatched := false
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
				if strings.HasPrefix(command.Text, "helm upgrade ") && !isWatched {
					isWatched = true
					requireRecordedProgress(t, watchProgress(t, "KUBECONFIG="+kubeconfig, run))
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

// watchProgress returns the output of rollout status -w during a change of the installation, until each wave of one
// VectorSidecar has finished the new revision.
func watchProgress(t *testing.T, kubeconfig string, change func()) string {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "progress.txt"))
	require.NoError(t, err)
	defer file.Close()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	watch := exec.CommandContext(ctx, filepath.Join(root, "bin", "kubectl-vectorsidecar"), "rollout", "status", "-w")
	watch.Env, watch.Stdout = append(os.Environ(), kubeconfig), file
	require.NoError(t, watch.Start())
	progress := func() string {
		text, err := os.ReadFile(file.Name())
		require.NoError(t, err)
		return string(text)
	}
	harness.Eventually(t, "the first screen", func() bool { return strings.Count(progress(), "\n") > 3 })
	change()
	harness.Eventually(t, "the end of the rollout", func() bool {
		screens := strings.Split(progress(), "\n\n") // A change prints the screen again after an empty line.
		return len(screens) > 2 && strings.Count(screens[len(screens)-1], "1/1") == 2
	})
	stop()
	require.Error(t, watch.Wait(), "the watch ended by itself")
	return progress()
}

// requireRecordedProgress requires that a progress has each line of the recording. Further lines are allowed, because a run
// can see more states. With -update, it records the progress instead.
func requireRecordedProgress(t *testing.T, progress string) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(recordedProgress, []byte("$ kubectl vectorsidecar rollout status -w\n"+progress), 0o600))
		return
	}
	text, err := os.ReadFile(recordedProgress)
	require.NoError(t, err)
	_, recorded, _ := strings.Cut(string(text), "\n") // The command.
	lines := strings.Split(changingText.ReplaceAllString(progress, "…"), "\n")
	for line := range strings.SplitSeq(changingText.ReplaceAllString(recorded, "…"), "\n") {
		require.Contains(t, lines, line, "run make pictures")
	}
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
