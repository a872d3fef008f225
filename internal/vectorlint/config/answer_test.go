// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	vectorconfig "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/config"
)

// The messages are extracted from the output of vector validate.
func TestReadAnswer_ExtractsMessages(t *testing.T) {
	const log = "2026-11-22T18:21:39.073607Z  INFO vector::app: Log level is enabled. level=\"info\"\n" +
		`{"timestamp":"2026-11-22T18:21:39.073607Z","level":"INFO","message":"Log level is enabled."}` + "\n"
	const vrl = "x Transform \"r\": \nerror[E105]: call to undefined function\n  ┌─ :1:6\n  │\n" +
		"1 │ .a = nofun(1)\n  │      ^^^^^\n  │      │\n  │      undefined function\n  │\n  = learn more about error code 105 at https://errors.vrl.dev/105\n\n"
	const ofVRL = "Transform \"r\": error[E105]: call to undefined function 1 │ .a = nofun(1)"
	for name, test := range map[string]struct {
		exit    int
		printed string
		outcome vectorconfig.Outcome
		says    []string
	}{
		"accepted": {0, "√ Loaded [\"c.yaml\"]\n√ Transforms configuration\n--------------------------\n                 Validated\n", vectorconfig.Valid, nil},
		"an option that there is not": {
			78, log + "Failed to load [\"a.yaml\"]\n-------------------------\nx unknown field `codex`\n\nin `sinks.out`\n\n\n",
			vectorconfig.Rejected, []string{"unknown field `codex` in `sinks.out`"},
		},
		"VRL":                      {78, log + "√ Loaded [\"b.yaml\"]\n\nTransform errors\n----------------\n" + vrl, vectorconfig.Rejected, []string{ofVRL}},
		"once, as it is and built": {78, "Transform errors\n----------------\n" + vrl + "\nComponent errors\n----------------\n" + vrl, vectorconfig.Rejected, []string{ofVRL}},
		"two faults": {
			78, "Failed to load [\"a.yaml\"]\n---\nx Input \"a\" for sink \"out\" doesn't match any components.\nx Input \"b\" for sink \"out\" doesn't match any components.\n",
			vectorconfig.Rejected, []string{"Input \"a\" for sink \"out\" doesn't match any components.", "Input \"b\" for sink \"out\" doesn't match any components."},
		},
		"a file that is not there": {
			78, "Component errors\n----------------\nx Sink \"out\": Could not open certificate file \"/ca\": No such file or directory (os error 2)\n",
			vectorconfig.NotJudged, []string{"Sink \"out\": Could not open certificate file \"/ca\": No such file or directory (os error 2)"},
		},
		"no data_dir":                   {78, "√ Loaded [\"f.yaml\"]\n√ Transforms configuration\nx data_dir \"/none\" does not exist\n", vectorconfig.NotJudged, []string{"data_dir \"/none\" does not exist"}},
		"no data_dir, and a fault":      {78, "x data_dir \"/none\" does not exist\nx Sink \"out\": no\n", vectorconfig.Rejected, []string{"Sink \"out\": no"}},
		"words of another release":      {78, "-----\n", vectorconfig.Rejected, []string{"-----"}},
		"what is refused, without mark": {78, "error[E203]: syntax error in VRL", vectorconfig.Rejected, []string{"error[E203]: syntax error in VRL"}},
		"killed":                        {137, "x nothing\n", vectorconfig.NotJudged, nil},
	} {
		t.Run(name, func(t *testing.T) {
			answer := vectorconfig.ReadAnswer(test.exit, test.printed)
			require.Equal(t, test.outcome, answer.Outcome)
			require.Equal(t, test.says, answer.Faults)
		})
	}
}

// The arguments of vector validate depend on the version, so that each version compiles VRL.
func TestValidateModeFor_CompilesVRLByVersion(t *testing.T) {
	for image, withoutEnvironment := range map[string]bool{
		"timberio/vector:0.45.0-alpine": false, "timberio/vector:0.56.0-alpine@sha256:1": false,
		"timberio/vector:0.57.0-alpine": true, "timberio/vector:0.58.0": true, "timberio/vector:latest": true, "vector": true,
	} {
		mode := vectorconfig.ValidateModeFor(image)
		require.Equal(t, withoutEnvironment, slices.Contains(mode.Args, "--no-environment"), image)
		require.Equal(t, !withoutEnvironment, mode.Builds, image)
		require.Contains(t, mode.Args, "--skip-healthchecks", image)
		require.NotEmpty(t, mode.Unchecked)
	}
}
