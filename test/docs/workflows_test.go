// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// workflow is the part of a workflow that is checked here.
type workflow struct {
	Jobs map[string]struct {
		RunsOn string `json:"runs-on"`
		Steps  []struct{ Name, Uses, Run string }
	}
}

// Workflows do not run here. The test checks that the files that they name exist, and that their shell scripts are
// valid.
func TestDocs_WorkflowsNameExistingFiles(t *testing.T) {
	files, err := filepath.Glob(root + "/.github/workflows/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	help := shell(t, "make help")
	variables, err := os.ReadFile(root + "/test/node/existing.go")
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var found workflow
		require.NoError(t, yaml.Unmarshal(text, &found), file)
		require.NotEmpty(t, found.Jobs, file)
		for _, match := range makeTarget.FindAllStringSubmatch(string(text), -1) {
			require.Regexp(t, `(?m)^  `+match[1]+` `, help, file)
		}
		for name, job := range found.Jobs {
			require.NotEmpty(t, job.RunsOn, name)
			for _, each := range job.Steps {
				require.NotEqual(t, each.Uses == "", each.Run == "", "%s: a step uses an action, or runs a command: %+v", name, each)
				shell(t, "bash -n <<'END'\n"+each.Run+"\nEND")
			}
		}
		for _, variable := range regexp.MustCompile(`\bNODE_[A-Z]+\b`).FindAllString(string(text), -1) {
			require.Contains(t, string(variables), `"`+variable+`"`)
		}
	}
}
