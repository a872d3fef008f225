// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

var update = flag.Bool("update", false, "write docs/values.md anew")

const valuesPage = root + "/docs/values.md"

// The page of values is made from the comments of chart/values.yaml, each of which
// is held to an effect by TestChart_AppliesEveryKey.
func TestChart_GeneratesValuesPageFromComments(t *testing.T) {
	made := valuesMarkdown(t)
	if *update {
		require.NoError(t, os.WriteFile(valuesPage, []byte(made), 0o600))
	}
	text, err := os.ReadFile(valuesPage)
	require.NoError(t, err)
	require.Equal(t, string(text), made, "go test ./test/chart -run TestChart_GeneratesValuesPageFromComments -update writes it")
}

func valuesMarkdown(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(`<!--
SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
SPDX-License-Identifier: Apache-2.0
-->
<!-- Made from chart/values.yaml: go test ./test/chart -run TestChart_GeneratesValuesPageFromComments -update writes it. -->

# Values of the installation

What may be set with ` + "`helm install … ./chart`" + `. The keys of a sidecar, under ` + "`sidecar`" + `, are explained in [values.yaml](../values.yaml) of
the sidecar chart. A key that is not here is refused.

| Key | Default | Meaning |
|---|---|---|
`)
	rows(t, document(t, chartDir+"/values.yaml"), "", leaves(t, load(t)), &b)
	return b.String()
}

// rows writes a row for each key that has a meaning of its own.
func rows(t *testing.T, n *yaml.Node, path string, until map[string]node, b *strings.Builder) {
	t.Helper()
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		at := strings.TrimPrefix(path+"."+key.Value, ".")
		if _, leaf := until[at]; !leaf {
			rows(t, value, at, until, b)
			continue
		}
		var parsed any
		require.NoError(t, value.Decode(&parsed))
		def, err := json.Marshal(parsed)
		require.NoError(t, err)
		fmt.Fprintf(b, "| `%s` | `%s` | %s |\n", at, def, sentence(key.HeadComment))
	}
}

// sentence is a comment's last paragraph on one line: what stands before is about
// several keys.
func sentence(comment string) string {
	paragraphs := strings.Split(comment, "\n\n")
	var words []string
	for line := range strings.SplitSeq(paragraphs[len(paragraphs)-1], "\n") {
		words = append(words, strings.TrimSpace(strings.TrimPrefix(line, "#")))
	}
	return strings.ReplaceAll(strings.Join(words, " "), "|", `\|`)
}
