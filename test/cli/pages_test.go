// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/internal/cli"
)

func command(out *bytes.Buffer) *cobra.Command {
	return cli.New(genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: out, ErrOut: out}, cli.Builtin{Chart: vectorsidecar.FS, Definition: vectorsidecar.Definition}, "test")
}

// docs/reference/cli.md and docs/reference/reasons.md equal the output of the command docs.
func TestCLI_GeneratesCommittedPages(t *testing.T) {
	for _, topic := range []string{"cli", "reasons"} {
		var out bytes.Buffer
		page := command(&out)
		page.SetArgs([]string{"docs", topic})
		require.NoError(t, page.ExecuteContext(t.Context()))
		file := filepath.Join(root, "docs", "reference", topic+".md")
		if *update {
			require.NoError(t, os.WriteFile(file, out.Bytes(), 0o644))
		}
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, string(text), out.String(), "run make generate")
	}
}

// A script runs each example in the help of a command.
func TestCLI_RunsEveryExampleInScript(t *testing.T) {
	scripts, err := filepath.Glob("testdata/*/*.txtar")
	require.NoError(t, err)
	var all strings.Builder
	for _, script := range scripts {
		text, err := os.ReadFile(script)
		require.NoError(t, err)
		all.Write(text)
	}
	checked := 0
	for _, one := range command(&bytes.Buffer{}).Commands() {
		if one.Name() == "help" {
			continue
		}
		require.NotEmpty(t, one.Example, "%s shows no example", one.Name())
		for line := range strings.SplitSeq(one.Example, "\n") {
			if !strings.HasPrefix(line, "#") {
				require.Contains(t, all.String(), line, "an example of %s", one.Name())
				checked++
			}
		}
	}
	require.Greater(t, checked, 20)
}
