// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	ctrl "sigs.k8s.io/controller-runtime"

	"kontroloop.ai/vector-sidecar-operator/test/controlplane"
	"kontroloop.ai/vector-sidecar-operator/test/runbook"
)

// isTutorial reports whether a page is a tutorial, whose commands run in a cluster of their own.
func isTutorial(page string) bool { return filepath.Dir(page) == "docs/tutorials" }

// savedFile is the first line of a block that the reader of a tutorial saves as a file.
var savedFile = regexp.MustCompile(`^# (\S+\.yaml)\n`)

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
			for _, command := range commands {
				if command.Text == "make demo" { // make verify runs it.
					require.NoError(t, command.Check(demoHeadings(t)))
					continue
				}
				printed := shell(t, strings.NewReplacer(files...).Replace(command.Text), "KUBECONFIG="+plane.Kubeconfig())
				require.NoError(t, command.Check(printed))
				if strings.HasPrefix(command.Text, "helm install ") {
					runOperator(t, plane)
				}
			}
		})
	}
}
