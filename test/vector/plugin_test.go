// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/internal/cli"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

// sidecarHead is a VectorSidecar up to its inline configuration, which starts on line 10.
const sidecarHead = `apiVersion: observability.kontroloop.ai/v1alpha1
kind: VectorSidecar
metadata: {name: logs, namespace: shop}
spec:
  matchAll: true
  selector: {}
  sidecar:
    config:
      inline: |
`

// graphOf returns an inline configuration with a VRL program and its unit test.
func graphOf(program, condition string) string {
	return sidecarHead + `        api: {enabled: true, address: "0.0.0.0:8686"}
        sources:
          app: {type: socket, mode: tcp, address: "127.0.0.1:9000"}
        transforms:
          priced:
            type: remap
            inputs: [app]
            source: |
              ` + program + `
        sinks:
          out: {type: http, inputs: [priced], uri: "https://sink.test", encoding: {codec: json}, auth: {strategy: bearer, token: "SECRET[keys.sink]"}}
        secret:
          keys: {type: exec, command: [touch, never]}
        tests:
          - name: has a price
            inputs: [{insert_at: priced, value: line}]
            outputs: [{extract_from: priced, conditions: [{type: vrl, source: "` + condition + `"}]}]
`
}

// The plugin prints the messages of Vector about a rendered configuration, with the line in the VectorSidecar. It reads
// no secrets from a backend.
func TestValidate_PrintsFindingsOfVector(t *testing.T) {
	vector := program(t)
	root, err := harness.Root()
	require.NoError(t, err)
	for name, test := range map[string]struct {
		sidecar string
		exit    int
		says    string
	}{
		"valid": {graphOf(".price = 1", "assert_eq!(.price, 1)"), 0, ""},
		"a program that does not compile": {
			graphOf(".price = nofun(1)", "true"), 1,
			`vectorsidecar.yaml:14: error VSC701: transforms.priced: Vector says: Transform "priced": error[E105]: call to undefined function 1 │ .price = nofun(1)`,
		},
		"a unit test that fails": {
			graphOf(".price = 1", "assert_eq!(.price, 2)"), 1,
			`vectorsidecar.yaml:24: error VSC702: tests[0]: test "has a price" fails: check[0] for transforms ["priced"] failed conditions:`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			require.NoError(t, os.WriteFile("vectorsidecar.yaml", []byte(test.sidecar), 0o600))
			var out, notes bytes.Buffer
			streams := genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &out, ErrOut: &notes}
			workload := filepath.Join(root, "docs", "samples", "app", "deployment.yaml")

			exit := cli.Run(t.Context(), []string{"validate", "-f", workload, "--sidecar", "vectorsidecar.yaml", "--vector", vector}, streams, cli.Builtin{Chart: vectorsidecar.FS, Definition: vectorsidecar.Definition}, "test")

			require.Equal(t, test.exit, exit, "%s%s", &out, &notes)
			require.Contains(t, out.String(), test.says)
			require.Contains(t, notes.String(), "not checked: the values of SECRET[…], which placeholders replace")
			require.NoFileExists(t, "never", "a backend is a program that the configuration names")
		})
	}
}
