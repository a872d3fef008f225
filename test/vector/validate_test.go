// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	vectorconfig "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/config"
)

// The installed Vector runs with the arguments of the validation Job for each release, and finds the errors in the
// table. For an earlier release, this only shows which arguments build the components.
func TestValidateJobSpec_FindsErrorsInTable(t *testing.T) {
	vector := program(t)
	faults := map[string]string{
		"VRL error":           "transforms:\n  r: {type: remap, inputs: [in], source: \".a = nofun(1)\"}\nsinks:\n  out: {type: blackhole, inputs: [r]}\n",
		"type error":          "sinks:\n  out: {type: blackhole, inputs: [in], print_interval_secs: often}\n",
		"unconfined template": "sinks:\n  out: {type: file, inputs: [in], path: \"{{ app }}/log\", encoding: {codec: json}}\n",
		"missing file":        "sinks:\n  out: {type: http, inputs: [in], uri: \"https://localhost\", encoding: {codec: json}, tls: {ca_file: /none/ca.crt}}\n",
	}
	for image, outcomes := range map[string]map[string]vectorconfig.Outcome{
		"vector:0.57.0": {"VRL error": vectorconfig.Rejected, "type error": vectorconfig.Rejected, "unconfined template": vectorconfig.Valid, "missing file": vectorconfig.Valid},
		"vector:0.56.0": {"VRL error": vectorconfig.Rejected, "type error": vectorconfig.Rejected, "unconfined template": vectorconfig.Rejected, "missing file": vectorconfig.NotJudged},
	} {
		for fault, want := range outcomes {
			t.Run(strings.Join([]string{image, fault}, " "), func(t *testing.T) {
				folder := t.TempDir()
				file := filepath.Join(folder, "vector.yaml")
				text := "data_dir: " + folder + "\nsources:\n  in: {type: stdin}\n" + faults[fault]
				require.NoError(t, os.WriteFile(file, []byte(text), 0o600))

				command := exec.CommandContext(t.Context(), vector, append(vectorconfig.ValidateModeFor(image).Args, file)...)
				command.Env = []string{"VECTOR_LOG=off"}
				printed, err := command.CombinedOutput()
				if !errors.As(err, new(*exec.ExitError)) {
					require.NoError(t, err)
				}

				answer := vectorconfig.ReadAnswer(command.ProcessState.ExitCode(), string(printed))
				require.Equal(t, want, answer.Outcome, "%s", printed)
				require.LessOrEqual(t, len(answer.Faults), 1, "%s", printed)
			})
		}
	}
}
