// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vectorconfig_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/internal/vectorconfig"
)

func TestVectorsAnswerIsReadToItsSentences(t *testing.T) {
	const log = "2026-11-22T18:21:39.073607Z  INFO vector::app: Log level is enabled. level=\"info\"\n" +
		`{"timestamp":"2026-11-22T18:21:39.073607Z","level":"INFO","message":"Log level is enabled."}` + "\n"
	for name, test := range map[string]struct {
		exit    int
		printed string
		outcome vectorconfig.Outcome
		says    string
	}{
		"accepted": {0, "√ Loaded [\"c.yaml\"]\n√ Transforms configuration\n--------------------------\n                 Validated\n", vectorconfig.Valid, ""},
		"an option that there is not": {
			78, log + "Failed to load [\"a.yaml\"]\n-------------------------\nx unknown field `codex`\n\nin `sinks.out`\n\n\n",
			vectorconfig.Refused, "unknown field `codex` in `sinks.out`",
		},
		"VRL": {
			78, log + "√ Loaded [\"b.yaml\"]\n\nTransform errors\n----------------\nx Transform \"r\": \nerror[E105]: call to undefined function\n  ┌─ :1:6\n  │\n" +
				"1 │ .a = nofun(1)\n  │      ^^^^^\n  │      │\n  │      undefined function\n  │\n  = learn more about error code 105 at https://errors.vrl.dev/105\n\n",
			vectorconfig.Refused, "Transform \"r\": error[E105]: call to undefined function 1 │ .a = nofun(1)",
		},
		"words of another release": {78, "-----\n", vectorconfig.Refused, "-----"},
		"killed":                   {137, "x nothing\n", vectorconfig.NotJudged, ""},
	} {
		t.Run(name, func(t *testing.T) {
			outcome, says := vectorconfig.Answer(test.exit, test.printed)
			require.Equal(t, test.outcome, outcome)
			require.Equal(t, test.says, says)
		})
	}
}
